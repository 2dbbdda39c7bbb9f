// What the image of docker/ does before and at its start, without an engine: setup, the configuration,
// the health check, and the tool server that compose.yaml puts behind the gateway.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BIN, SOURCE, prepare, until } from '../support/gateway.mjs';
import { openSession } from '../support/rpc.mjs';

const PEERS = join(SOURCE, 'tests/support/npm/node_modules');

function setup(dir) {
  const env = { ...process.env, WRIT_DATA: dir, WRIT_TEMPLATE: join(SOURCE, 'docker/writ.yaml'), PATH: `${dirname(BIN)}:${process.env.PATH}` };
  const run = spawnSync(join(SOURCE, 'docker/setup'), { env, encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout + run.stderr);
}

/** The tool server of tools.Dockerfile on a port of the system; gives the port. */
async function startTools(t) {
  const version = JSON.parse(readFileSync(join(PEERS, '@modelcontextprotocol/server-everything/package.json'))).version;
  assert.ok(readFileSync(join(SOURCE, 'docker/tools.Dockerfile'), 'utf8').includes(`server-everything@${version} `), `tools.Dockerfile does not have ${version}`);
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const child = spawn(process.execPath, [join(PEERS, '@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (d) => { said += d; });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  t.after(() => { child.kill('SIGKILL'); return exited; });
  await until(() => said.includes('listening on port'), 'the tool server');
  return port;
}

test('setup makes what the gateway needs, once, and the gateway serves the example tools with it', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-docker-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  setup(dir);
  const token = readFileSync(join(dir, 'token'), 'utf8');
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(statSync(join(dir, 'token')).mode & 0o777, 0o600);
  const kept = readFileSync(join(dir, 'writ.yaml'), 'utf8');
  setup(dir);
  assert.equal(readFileSync(join(dir, 'token'), 'utf8'), token);
  assert.equal(readFileSync(join(dir, 'writ.yaml'), 'utf8'), kept);

  const tools = await startTools(t);
  const gw = prepare(t, {}, { dir });
  writeFileSync(gw.configFile, kept.replace('0.0.0.0:8700', '127.0.0.1:0').replace('0.0.0.0:8701', '127.0.0.1:0').replace('http://tools:3001', `http://127.0.0.1:${tools}`));
  await gw.start();
  const healthy = () => spawnSync(join(SOURCE, 'docker/healthy'), [String(gw.adminPort)]).status;
  assert.equal(healthy(), 0);

  const caller = await openSession(gw, { token });
  const list = await caller.request('tools/list');
  assert.deepEqual(list.result.tools.map((tool) => tool.name).sort(), ['tools__echo', 'tools__get-sum']);
  assert.equal((await caller.call('tools__echo', { message: 'hello' })).said, 'Echo: hello');
  assert.equal((await caller.call('tools__get-sum', { a: 5000, b: 1 })).error.data.reason, 'constraint_failed');
  assert.equal((await openSession(gw, { token: 'wrong' }).catch((e) => e)) instanceof Error, true);
  await gw.stop();
  assert.notEqual(healthy(), 0);
});

test('both listeners are reached through the ports that compose.yaml publishes', () => {
  const read = (name) => readFileSync(join(SOURCE, 'docker', name), 'utf8');
  const listeners = [...read('writ.yaml').matchAll(/^(?:admin_)?listen: (\S+):(\d+)$/gm)];
  assert.deepEqual(listeners.map((l) => l[1]), ['0.0.0.0', '0.0.0.0'], 'an address inside the container is not published');
  const published = [...read('compose.yaml').matchAll(/- "127\.0\.0\.1:\$\{\w+:-\d+\}:(\d+)"/g)].map((m) => m[1]);
  assert.deepEqual(published, listeners.map((l) => l[2]));
  assert.deepEqual(/^EXPOSE (.*)$/m.exec(read('Dockerfile'))[1].split(' '), published);
});

test('the example of a server over stdio works with what stdio.Dockerfile installs', async (t) => {
  const file = readFileSync(join(SOURCE, 'docker/stdio.Dockerfile'), 'utf8');
  const name = '@modelcontextprotocol/server-filesystem';
  const { version } = JSON.parse(readFileSync(join(PEERS, name, 'package.json')));
  assert.ok(file.includes(`${name}@${version} `), `stdio.Dockerfile does not have ${version}`);
  const dir = mkdtempSync(join(tmpdir(), 'writ-docker-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  setup(dir);
  mkdirSync(join(dir, 'files'));
  writeFileSync(join(dir, 'files', 'here.txt'), '');
  const page = readFileSync(join(SOURCE, 'docker/README.md'), 'utf8');
  const example = /```yaml\n(upstreams:\n[^]*?)```/.exec(page)[1];
  const own = readFileSync(join(dir, 'writ.yaml'), 'utf8').replace('0.0.0.0:8700', '127.0.0.1:0').replace('0.0.0.0:8701', '127.0.0.1:0');
  const gw = prepare(t, {}, { dir });
  writeFileSync(gw.configFile, own.slice(0, own.indexOf('upstreams:'))
    + example.replaceAll('/srv/node_modules', PEERS).replaceAll('/var/lib/writ', dir).replace('[node,', `[${process.execPath},`));
  await gw.start();
  const caller = await openSession(gw, { token: readFileSync(join(dir, 'token'), 'utf8') });
  assert.match((await caller.call('files__list_directory', { path: join(dir, 'files') })).said, /here\.txt/);
  assert.equal((await caller.call('files__list_directory', { path: dir })).reason, 'constraint_failed');
});
