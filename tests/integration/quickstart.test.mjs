// The first of the two commands of the README, as a user runs it: with its own data, twice, and once until Ctrl-C.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reservePort } from '../support/js/ports.mjs';

const source = process.env.WRIT_SOURCE_DIR;
const home = join(mkdtempSync(join(tmpdir(), 'writ-quickstart-')), 'data');

// Runs it; `until` (a text of its output) sends SIGINT to the whole group, as a terminal does.
async function quickstart(args, { until, ports } = {}) {
  const env = { ...process.env, WRIT: process.env.WRIT_BIN, HOME_DIR: home,
    ...ports ?? { PORT: String(await reservePort()), ADMIN_PORT: String(await reservePort()) } };
  const child = spawn('bash', [join(source, 'scripts/quickstart'), ...args],
    { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '', sent = false;
  const take = chunk => {
    output += chunk;
    if (until && !sent && output.includes(until)) {
      sent = true;
      process.kill(-child.pid, 'SIGINT');
    }
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const code = await new Promise(resolve => child.on('close', resolve));
  return { code, output };
}

const records = output => Number(/sound: (\d+) records/.exec(output)?.[1]);

test('quickstart shows an allowed, a refused and a duplicate call, and keeps its data', async () => {
  const first = await quickstart(['--no-wait']);
  assert.equal(first.code, 0, first.output);
  assert.match(first.output, /answered: Successfully wrote/);
  assert.match(first.output, /refused: constraint_failed \(path under; accepted: /);
  assert.match(first.output, /refused: duplicate_outcome \(first call [0-9a-f-]{36}: executed\)/);
  assert.equal(records(first.output), 7, first.output); // three calls, their outcomes, the seal

  const second = await quickstart(['--no-wait']);
  assert.equal(second.code, 0, second.output);
  assert.equal(records(second.output), 14, second.output);
});

test('Ctrl-C stops quickstart, and the ledger verifies', async () => {
  const { code, output } = await quickstart([], { until: 'The gateway stays up' });
  assert.equal(code, 130, output);
  const after = await quickstart(['--no-wait']);
  assert.equal(after.code, 0, after.output);
  assert.equal(records(after.output), 28, after.output);
});

test('quickstart keeps its own copy of the policy, which a user edits', async () => {
  const config = join(home, 'quickstart.yaml');
  const before = readFileSync(config, 'utf8');
  writeFileSync(config, before.replace('value: 65536', 'value: 3'));
  const { code, output } = await quickstart(['--no-wait'], { ports: {} }); // those of the copy
  assert.notEqual(code, 0, output);
  assert.match(output,
    /write a file inside the sandbox\n +refused: constraint_failed \(content max_length; accepted: .*3/);
  assert.match(readFileSync(config, 'utf8'), /value: 3\}/);
  writeFileSync(config, before);
});

test('quickstart reports a port in use with the variable that changes it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const taken = String(server.address().port);
  for (const name of ['PORT', 'ADMIN_PORT']) {
    const ports = { PORT: String(await reservePort()), ADMIN_PORT: String(await reservePort()), [name]: taken };
    const { code, output } = await quickstart(['--no-wait'], { ports });
    assert.equal(code, 1, output);
    assert.match(output, new RegExp(`port ${taken} is taken\\. Choose another: ${name}=`));
  }
  server.close();
});

test('quickstart refuses another argument', async () => {
  const { code, output } = await quickstart(['--nowait']);
  assert.equal(code, 2);
  assert.match(output, /usage: scripts\/quickstart/);
});

test.after(() => rmSync(join(home, '..'), { recursive: true, force: true }));
