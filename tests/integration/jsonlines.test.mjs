// Every line that a command which serves writes to standard error is a line of the log, whatever happens: a wrong
// command line, a fault at the start, and children that write anything.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN, prepare, startGateway, until } from '../support/js/gateway.mjs';
import { checkLine } from '../support/js/log-events.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { Wrap, endGateways } from '../support/js/wrap.mjs';
import { resolve } from '../support/npm/peers.mjs';

const FILES = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-lines-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** The lines of a run that fails, each checked. */
function failing(program, args, { cwd, input = '', env = {} } = {}) {
  const run = spawnSync(BIN, args, { cwd, input, encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env } });
  assert.notEqual(run.status, 0, args.join(' '));
  assert.equal(run.stdout, '', args.join(' '));
  const lines = run.stderr.split('\n').slice(0, -1);
  assert.ok(lines.length > 0 && run.stderr.endsWith('\n'), args.join(' '));
  const all = lines.map((line) => JSON.parse(line));
  all.forEach((line) => checkLine(program, line));
  assert.ok(all.some((line) => line.event === 'not_started' && line.why.length > 0), run.stderr);
  return all;
}

test('serve, guard, wrap and ledger watch report a wrong command line as a line of the log', () => {
  for (const [program, ...args] of [
    ['serve', 'serve'], ['serve', 'serve', 'a', 'b'], ['serve', 'serve', '--nonsense', 'a'],
    ['serve', 'serve', '--idle', 'x', 'a'], ['serve', 'serve', '--idle'], ['serve', 'serve', '--json', 'none'],
    ['guard', 'guard', 'http'], ['guard', 'guard', 'check'], ['guard', 'guard', 'stdio'],
    ['guard', 'guard', 'http', '--keys', 'k', '--aud', 'a', '--used', 'u', '--skew', 'x', 'http://127.0.0.1:1'],
    ['wrap', 'wrap'], ['wrap', 'wrap', '--idle', 'x', '--', 'a'], ['wrap', 'wrap', '--nonsense'],
    ['wrap', 'wrap', '--client-config', 'x'],
    ['watch', 'ledger', 'watch'], ['watch', 'ledger', 'watch', 'http://127.0.0.1:1', '--nonsense'],
    ['watch', 'ledger', 'watch', 'http://127.0.0.1:1', '--key', 'k', '--state', 's', '--every', 'x'],
  ]) {
    const [line] = failing(program, args);
    if (!args.includes('none')) assert.match(line.why, /Run: writ \w+.* --help$/);
  }
});

test('serve reports each fault of a start as lines of the log', async (t) => {
  const dir = folder(t);
  const write = (name, text) => writeFileSync(join(dir, name), text);
  write('yaml.yaml', 'a: [');
  write('option.yaml', 'isuer: x\nloops: many\n');
  write('keys.yaml', 'keys: none\n');
  for (const file of ['none.yaml', 'yaml.yaml', 'option.yaml', 'keys.yaml'])
    failing('serve', ['serve', file], { cwd: dir });
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const gw = prepare(t, { listen: `127.0.0.1:${taken.address().port}` });
  failing('serve', ['serve', gw.configFile], { cwd: gw.dir });
  rmSync(gw.ledgerFile);
  failing('serve', ['serve', gw.configFile], { cwd: gw.dir });
});

test('guard and wrap report each fault of a start as lines of the log', (t) => {
  const dir = folder(t);
  const home = { cwd: dir, env: { HOME: dir, XDG_CONFIG_HOME: dir, XDG_STATE_HOME: dir, XDG_RUNTIME_DIR: dir } };
  writeFileSync(join(dir, 'keys'), 'not a key set');
  const guard = (...rest) => failing('guard', ['guard', ...rest, '--keys', 'keys', '--aud', 'a', '--iss', 'https://i',
    '--used', 'used'].concat(rest[0] === 'stdio' ? ['--', 'true'] : rest[0] === 'http' ? ['http://127.0.0.1:1'] : []),
  home);
  for (const form of ['http', 'check', 'stdio']) guard(form);
  failing('wrap', ['wrap', '--config', 'none.yaml'], home);
  writeFileSync(join(dir, 'bad.yaml'), 'isuer: x\nlisten: unix:socket\n');
  const lines = failing('wrap', ['wrap', '--config', 'bad.yaml'], home);
  assert.ok(lines.some((l) => l.event === 'configuration_error' && l.line === 1), JSON.stringify(lines));
  failing('wrap', ['wrap', '--', '/nonexistent/server'], home);
});

test('ledger watch reports a fault of a start and a silent gateway as lines of the log', async (t) => {
  const dir = folder(t);
  const gw = await startGateway(t, {});
  const args = (key) => ['ledger', 'watch', 'http://127.0.0.1:1', '--key', key, '--state', join(dir, 'seen')];
  failing('watch', args(join(dir, 'none')));
  const key = spawnSync(BIN, ['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).stdout;
  writeFileSync(join(dir, 'key'), key);
  failing('watch', [...args(join(dir, 'key')), '--once']);
  const watch = spawn(BIN, args(join(dir, 'key')), { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => watch.kill('SIGKILL'));
  watch.stdout.on('data', (text) => assert.fail(String(text)));
  const [text] = await once(watch.stderr.setEncoding('utf8'), 'data');
  const line = JSON.parse(text);
  checkLine('watch', line);
  assert.equal(line.event, 'checkpoint_missed');
});

const NOISE = `
process.stderr.write('plain text\\n{"event":"forged","level":"error"}\\n\\u001b[31mred\\u001b[0m\\n');
process.stderr.write(Buffer.from([0x61, 0xff, 0xfe, 0x0a, 0x00, 0x0a]));
process.stderr.write('no end of line');
`;

test('whatever a child writes to its standard error stays inside of a line', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'noise.mjs'), NOISE);
  const gw = await startGateway(t, { log: { level: 'debug' }, upstreams: { noise: { stdio: [process.execPath,
    join(dir, 'noise.mjs')] } } });
  await assert.rejects(openSession(gw)); // it is no server of MCP
  const lines = () => gw.log.filter((l) => l.event === 'upstream_stderr');
  await until(() => lines().some((l) => l.line.includes('forged')) && lines().some((l) => l.line.includes('red')),
    'the lines of the child');
  await gw.stop();
  assert.ok(gw.log.every((l) => l.event !== 'not_json' && l.event !== 'forged'));

});

test('wrap says in lines of the log what its user should know, whatever its server writes', async (t) => {
  const dir = folder(t), config = join(dir, '.config/writ/writ.yaml');
  writeFileSync(join(dir, 'noise.mjs'), NOISE);
  const wrap = new Wrap(['--', process.execPath, '--import', join(dir, 'noise.mjs'), FILES, dir],
    { cwd: dir, env: { HOME: dir, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' } });
  t.after(async () => {
    await wrap.kill();
    await endGateways(config);
  });
  await wrap.open();
  await wrap.end();
  const said = wrap.said.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  said.forEach((line) => checkLine('wrap', line));
  const line = said.find((l) => l.event === 'rules_not_agreed');
  assert.match(line.why, /writ wrap --agree/);
  assert.equal(line.level, 'warn');
});
