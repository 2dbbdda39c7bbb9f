// `writ wrap` without a configuration: what it makes at first use, that nothing runs before its user
// agrees, and that other wraps go on when a new server joins.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf, until, writ } from '../support/js/gateway.mjs';
import { endGateways, gateways, Wrap } from '../support/js/wrap.mjs';
import { resolve } from '../support/npm/peers.mjs';

const FILES = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const MEMORY = resolve('@modelcontextprotocol/server-memory/dist/index.js');

/** A home folder of its own, with a folder of files in it. */
function home(t) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-home-'));
  const config = join(dir, '.config/writ/writ.yaml'), state = join(dir, '.local/state/writ');
  const env = { ...process.env, HOME: dir, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' };
  const wraps = [];
  t.after(async () => {
    await Promise.all(wraps.map((w) => w.kill()));
    await endGateways(config);
    rmSync(dir, { recursive: true, force: true });
  });
  mkdirSync(join(dir, 'data'));
  writeFileSync(join(dir, 'data/a.txt'), 'hello');
  return { dir, config, state, run: (...args) => writ(['wrap', ...args], { env, cwd: dir, input: '' }),
    server: (name) => join(dir, '.config/writ/servers', `${name}.yaml`),
    decisions: () => JSON.parse(writ(['ledger', 'list', join(state, 'ledger.db'), '--limit', '0', '--json']).out)
      .decisions,
    wrap: (...args) => {
      const wrap = new Wrap(args, { env, cwd: dir });
      wraps.push(wrap);
      return wrap;
    } };
}

/** Whether a wrap waits for the gateway that another one is starting. */
function waits(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('.sock.start'));
  } catch {
    return false; // it has closed one of them since
  }
}

/** Every file and folder below, with its mode. */
function modes(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return [[path, statSync(path).mode & 0o777, entry.isDirectory()], ...(entry.isDirectory() ? modes(path) : [])];
  });
}

const files = (h) => ['--', process.execPath, FILES, join(h.dir, 'data')];
const read = (h, w) => w.call('read_text_file', { path: join(h.dir, 'data/a.txt') });
const fill = (h, name) => writeFileSync(h.server(name),
  readFileSync(h.server(name), 'utf8').replaceAll('REPLACE_WITH_A_FOLDER', join(h.dir, 'data')));

test('first use: folders, a proposal, no call before its user agrees, and then the same session goes on', async (t) => {
  const h = home(t);
  const w = h.wrap(...files(h));
  const opened = await w.open();
  assert.match(opened.result.instructions, /Writ refuses every tool call .*writ wrap --agree filesystem/s);
  assert.match(w.said, /servers\/filesystem\.yaml.*writ wrap --agree filesystem/s);
  for (const [path, mode, folder] of [...modes(join(h.dir, '.config')), ...modes(join(h.dir, '.local'))]) {
    assert.equal(mode, folder ? 0o700 : 0o600, path);
  }
  assert.ok((await w.ask('tools/list')).result.tools.some((x) => x.name === 'read_text_file'));
  assert.equal((await read(h, w)).error.data.reason, 'not_agreed');

  const text = readFileSync(h.server('filesystem'), 'utf8');
  const early = h.run('--agree', 'filesystem');
  assert.equal(early.code, 3);
  assert.match(early.err, /filesystem\.yaml:\d+: .*REPLACE_WITH_A_FOLDER/);
  assert.equal(readFileSync(h.server('filesystem'), 'utf8'), text, 'the file is as it was');
  assert.match(h.run('--agree', 'other').err, /does not exist: wrap the server once/);
  assert.equal(h.run('--agree', '../../x').code, 3);

  fill(h, 'filesystem');
  assert.equal(h.run('--agree', 'filesystem').out, 'agreed: filesystem\n');
  assert.equal(h.run('--agree', 'filesystem').code, 0, 'twice is once');
  const done = await until(async () => {
    const answer = await read(h, w);
    return answer.error?.data.reason === 'not_agreed' ? undefined : answer;
  }, 'the gateway to have read the file');
  assert.equal(done.result.content[0].text, 'hello');
  assert.equal((await w.call('read_text_file', { path: '/etc/passwd' })).error.data.reason, 'constraint_failed');
  assert.equal(h.decisions()[0].agent_id, 'agent');
  await w.end();

  const again = h.wrap(...files(h));
  assert.equal((await again.open()).result.instructions ?? '', '');
  assert.equal(again.said, '');
  const other = h.run('--', process.execPath, FILES, '/');
  assert.equal(other.code, 3);
  assert.match(other.err, /says another command for filesystem: .*--name/);
});

test('agreeing keeps every file and folder for its user alone, whatever the umask', async (t) => {
  const h = home(t);
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const w = h.wrap(...files(h));
  await w.open();
  fill(h, 'filesystem');
  assert.equal(h.run('--agree', 'filesystem').code, 0);
  const made = ['.config/writ', '.local/state/writ'].flatMap((folder) => modes(join(h.dir, folder)));
  for (const [path, mode, folder] of made)
    assert.equal(mode, folder ? 0o700 : 0o600, path);
  await w.end();
});

test('what the proposal wants approved is asked of the person at the client', async (t) => {
  const h = home(t);
  await h.wrap(...files(h)).end();
  fill(h, 'filesystem');
  assert.equal(h.run('--agree', 'filesystem').code, 0);
  const w = h.wrap(...files(h));
  await w.open({ elicitation: {} });
  const path = join(h.dir, 'data/b.txt');
  const call = w.call('write_file', { path, content: 'new' });
  const question = await until(() => w.messages.find((m) => m.method === 'elicitation/create'), 'the question');
  assert.equal(existsSync(path), false);
  w.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { vote: 'approve' } } });
  assert.ok((await call).result);
  assert.equal(readFileSync(path, 'utf8'), 'new');
});

test('a wrap that was killed before the gateway knew its server is made good by the next one', async (t) => {
  const h = home(t);
  const memory = ['--', process.execPath, MEMORY];
  await h.wrap(...memory).end(); // makes servers/memory.yaml
  const file = readFileSync(h.server('memory'), 'utf8');
  rmSync(h.server('memory'));
  await endGateways(h.config, 'SIGTERM');
  const first = h.wrap(...files(h));
  await first.open();
  writeFileSync(h.server('memory'), file, { mode: 0o600 }); // as the killed wrap leaves it
  writeFileSync(join(h.state, 'gateway.due'), 'x', { mode: 0o600 });
  const w = h.wrap(...memory);
  assert.ok((await w.open()).result);
  assert.ok((await w.ask('tools/list')).result.tools.length > 0);
  assert.equal(existsSync(join(h.state, 'gateway.due')), false);
  assert.ok((await first.ask('tools/list')).result.tools.length > 0);
});

test('nothing is made in a folder that others can write to', (t) => {
  const h = home(t);
  mkdirSync(h.state, { recursive: true });
  chmodSync(h.state, 0o777); // whatever the umask is
  const run = h.run(...files(h));
  assert.notEqual(run.code, 0);
  assert.match(run.err, /mode 0777 gives writing to others/);
  assert.deepEqual(readdirSync(h.state), []);
});

test('a new server joins: the gateway starts again, and the wraps that are there go on', async (t) => {
  const h = home(t);
  const first = h.wrap(...files(h));
  await first.open();
  fill(h, 'filesystem');
  h.run('--agree', 'filesystem');
  await first.end();
  const one = h.wrap(...files(h));
  await one.open();
  assert.equal((await read(h, one)).result.content[0].text, 'hello');
  const [before] = gateways(h.config);
  const two = h.wrap('--', process.execPath, MEMORY);
  assert.equal((await two.open()).result.serverInfo.name, 'memory-server');
  const after = gateways(h.config);
  assert.equal(after.length, 1);
  assert.notEqual(after[0], before);
  const list = await one.call('list_directory', { path: join(h.dir, 'data') });
  assert.match(list.result.content[0].text, /a\.txt/);
  assert.equal((await two.call('read_graph', {})).error.data.reason, 'not_agreed');
  assert.equal(writ(['ledger', 'verify', join(h.state, 'ledger.db')]).code, 0);
});

test('several first uses at once make one home, one gateway, and a file for each server', async (t) => {
  const h = home(t);
  const wraps = [h.wrap(...files(h)), h.wrap('--', process.execPath, MEMORY),
    h.wrap('--name', 'again', '--', process.execPath, MEMORY)];
  const opened = await Promise.all(wraps.map((w) => w.open()));
  assert.ok(opened.every((m) => m?.result), JSON.stringify(opened) + wraps.map((w) => w.said).join(''));
  assert.deepEqual(readdirSync(join(h.dir, '.config/writ/servers')).sort(),
    ['again.yaml', 'filesystem.yaml', 'memory.yaml']);
  await until(() => gateways(h.config).length === 1, 'one gateway');
});

test('a wrap that is killed in its first use leaves nothing that the next one trips over', async (t) => {
  const h = home(t);
  for (const seen of [() => existsSync(h.state), () => existsSync(h.config), () => gateways(h.config).length === 1]) {
    const w = h.wrap(...files(h));
    await until(seen, 'the moment');
    await w.kill();
  }
  const w = h.wrap(...files(h));
  assert.ok((await w.open())?.result, w.said);
});

for (const [what, server] of [['the same server', files], ['a new one', () => ['--', process.execPath, MEMORY]]]) {
  test(`a wrap of ${what} waits for the gateway that a killed wrap starts, and that one for the ledger`, async (t) => {
    const h = home(t), log = join(h.state, 'writ.sock.log');
    const made = h.wrap(...files(h));
    await made.open();
    await made.end();
    await endGateways(h.config, 'SIGTERM');
    const holder = spawn('flock', ['--no-fork', join(h.state, 'ledger.db-lock'), 'sh', '-c', 'echo held; exec cat'],
      { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');

    const killed = h.wrap(...files(h));
    await until(() => /"ledger_awaited"/.test(textOf(log)), 'the gateway to wait');
    await killed.kill();
    const starting = gateways(h.config);
    assert.equal(starting.length, 1);
    const next = h.wrap(...server(h)), opened = next.open();
    await until(() => next.gone || waits(next.child.pid), 'the wrap to wait');
    assert.deepEqual(gateways(h.config), starting, 'one gateway is being started');
    holder.stdin.end();
    assert.ok((await opened)?.result, next.said);
    assert.doesNotMatch(textOf(log), /"not_started"/);
  });
}

test('a server that does not start is an error, and no file of it stays', async (t) => {
  const h = home(t);
  const run = h.run('--name', 'none', '--', 'sh', '-c', 'echo broken licence >&2; exit 3');
  assert.equal(run.code, 4);
  assert.match(run.err, /broken licence/);
  assert.equal(existsSync(h.server('none')), false);
  assert.equal(gateways(h.config).length, 0);
  assert.equal(h.run().code, 2);
});
