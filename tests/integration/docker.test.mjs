// What the image of docker/ does before and at its start, without an engine: setup, the configuration,
// the health check, and the tool server that compose.yaml puts behind the gateway.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BIN, SOURCE, prepare, writ } from '../support/js/gateway.mjs';
import { openSession, send } from '../support/js/rpc.mjs';
import { startToolServer } from '../support/servers/tool-server.mjs';

const PEERS = join(SOURCE, 'tests/support/npm/node_modules');

function setup(dir) {
  const env = { ...process.env, WRIT_DATA: dir, WRIT_TEMPLATE: join(SOURCE, 'docker/writ.yaml'),
    PATH: `${dirname(BIN)}:${process.env.PATH}` };
  const run = spawnSync(join(SOURCE, 'docker/setup'), { env, encoding: 'utf8' });
  assert.equal(run.status, 0, run.stdout + run.stderr);
}

/** What compose.yaml starts the tool server with: --keys=URL and so on, by name. */
function toolOptions() {
  const tools = /^  tools:[^]*?^    command:\n([^]*?)^    \w/m.exec(readFileSync(join(SOURCE, 'docker/compose.yaml'),
    'utf8'))[1];
  return Object.fromEntries([...tools.matchAll(/^ +- --(\w+)=(\S+)$/gm)].map((m) => [m[1], m[2]]));
}

test('setup creates the gateway\'s files once, and the gateway serves the example tools', async (t) => {
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

  const options = toolOptions();
  writeFileSync(join(dir, 'jwks.json'), writ(['keys', 'jwks', '--dir', join(dir, 'keys')]).out);
  const server = await startToolServer(t, pathToFileURL(join(dir, 'jwks.json')).href, options);
  const gw = prepare(t, {}, { dir });
  writeFileSync(gw.configFile, kept.replace('0.0.0.0:8700', '127.0.0.1:0').replace('0.0.0.0:8701', '127.0.0.1:0')
    .replace('http://tools:9000', server.origin));
  await gw.start();
  const healthy = () => spawnSync(join(SOURCE, 'docker/healthy'), [String(gw.adminPort)]).status;
  assert.equal(healthy(), 0);

  const { host, pathname } = new URL(options.keys);
  const published = await send(gw.origin, { method: 'GET', path: pathname, headers: { host } });
  assert.equal(published.text, readFileSync(join(dir, 'jwks.json'), 'utf8').trim(),
    'the tool server gets no keys under this name');
  const caller = await openSession(gw, { token });
  const list = await caller.request('tools/list');
  assert.deepEqual(list.result.tools.map((tool) => tool.name).sort(), ['bank__balance', 'bank__transfer']);
  const order = { from: 'alice', to: 'bob', cents: 1000 };
  assert.deepEqual((await caller.call('bank__transfer', order)).result.structuredContent, { cents: 1000 });
  assert.deepEqual((await caller.call('bank__balance', { account: 'alice' })).result.structuredContent,
    { cents: 9000, version: 1 });
  assert.equal((await caller.call('bank__transfer', { ...order, cents: 1001 })).error.data.reason, 'constraint_failed');
  assert.equal((await server.call('transfer', order)).error.data.reason, 'missing_credential');
  assert.equal((await openSession(gw, { token: 'wrong' }).catch((e) => e)) instanceof Error, true);
  await gw.stop();
  assert.notEqual(healthy(), 0);
});

test('both listeners are reached through the ports that compose.yaml publishes', () => {
  const read = (name) => readFileSync(join(SOURCE, 'docker', name), 'utf8');
  const listeners = [...read('writ.yaml').matchAll(/^(?:admin_)?listen: (\S+):(\d+)$/gm)];
  assert.deepEqual(listeners.map((l) => l[1]), ['0.0.0.0', '0.0.0.0'],
    'an address inside the container is not published');
  const published = [...read('compose.yaml').matchAll(/- "127\.0\.0\.1:\$\{\w+:-\d+\}:(\d+)"/g)].map((m) => m[1]);
  assert.deepEqual(published, listeners.map((l) => l[2]));
  assert.deepEqual(/^EXPOSE (.*)$/m.exec(read('Dockerfile'))[1].split(' '), published);
});

test('the stdio example works in the image of stdio.Dockerfile', async (t) => {
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
  const own = readFileSync(join(dir, 'writ.yaml'), 'utf8').replace('0.0.0.0:8700', '127.0.0.1:0')
    .replace('0.0.0.0:8701', '127.0.0.1:0');
  const gw = prepare(t, {}, { dir });
  writeFileSync(gw.configFile, own.slice(0, own.indexOf('upstreams:'))
    + example.replaceAll('/srv/node_modules', PEERS).replaceAll('/var/lib/writ', dir)
      .replace('[node,', `[${process.execPath},`));
  await gw.start();
  const caller = await openSession(gw, { token: readFileSync(join(dir, 'token'), 'utf8') });
  assert.match((await caller.call('files__list_directory', { path: join(dir, 'files') })).said, /here\.txt/);
  assert.equal((await caller.call('files__list_directory', { path: dir })).reason, 'constraint_failed');
});
