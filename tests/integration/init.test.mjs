// writ init as a command: what it writes and prints, what it warns of and refuses. initservers.test.mjs has the rules
// that it proposes for the official servers.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync,
  writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { SOURCE, writ, writBeside } from '../support/js/gateway.mjs';
import { resolve } from '../support/npm/peers.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';

const server = (name) => resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
const SUPPORT = absolute(SOURCE, 'tests/support');

/** A folder that goes with the test; without links in its path, as file servers name it. */
function folderOf(t) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-init-')));
  t.after(() => { if (!process.env.WRIT_KEEP) rmSync(dir, { recursive: true, force: true }); });
  return dir;
}

test('init_asks_several_servers_by_url_and_names_each', async (t) => {
  const dir = folderOf(t);
  const up = await startSdkUpstream(t), other = await startSdkUpstream(t);
  const made = await writBeside(['init', `first=${up.url}`, `second=${other.url}`, '--json', '--agent', 'nightly',
    '--port', '9000'], { cwd: dir });
  assert.equal(made.code, 0, made.err);
  const answer = JSON.parse(made.out);
  assert.deepEqual(answer.servers.map((s) => s.name), ['first', 'second']);
  assert.equal(answer.client.mcpServers.writ.url, 'http://127.0.0.1:9000/mcp');
  assert.equal(answer.agent_token_file, 'nightly.token');
  assert.equal(answer.client.mcpServers.writ.headers.Authorization,
    `Bearer ${readFileSync(join(dir, 'nightly.token'), 'utf8')}`);
  assert.match(readFileSync(join(dir, 'writ.yaml'), 'utf8'),
    /^listen: 127\.0\.0\.1:9000\nadmin_listen: 127\.0\.0\.1:9001 /m);
});

test('init_while_another_program_has_its_port_takes_the_next_free_one', async (t) => {
  const taken = createServer();
  await new Promise((done) => taken.once('error', done).once('listening', done).listen(8701, '127.0.0.1'));
  t.after(() => taken.close());
  const dir = folderOf(t);
  const made = writ(['init', '--', process.execPath, server('memory')], { cwd: dir });
  assert.equal(made.code, 0, made.err);
  const [, port] = /^listen: 127\.0\.0\.1:(\d+)$/m.exec(readFileSync(join(dir, 'writ.yaml'), 'utf8'));
  assert.match(port, /^87[1-9]0$/);
  assert.ok(made.out.includes(`\nPort 8700 is taken; this gateway gets ${port}.\n`), made.out);
  assert.ok(made.out.includes(`http://127.0.0.1:${port}/mcp`), made.out);
});

test('init_keeps_secrets_to_their_owner_and_tells_people_what_is_next', (t) => {
  const dir = folderOf(t);
  const made = writ(['init', '--out', 'gate', '--', process.execPath, server('filesystem'), dir], { cwd: dir });
  assert.equal(made.code, 0, made.err);
  for (const name of ['agent.token', 'owner.token', 'writ.yaml', 'ledger.db']) {
    assert.equal(statSync(join(dir, 'gate', name)).mode & 0o777, 0o600, name);
  }
  assert.equal(statSync(join(dir, 'gate')).mode & 0o777, 0o700);
  const config = readFileSync(join(dir, 'gate/writ.yaml'), 'utf8');
  const token = readFileSync(join(dir, 'gate/agent.token'), 'utf8');
  assert.ok(!config.includes(token) && !config.includes(readFileSync(join(dir, 'gate/owner.token'), 'utf8')));
  assert.match(made.out, /^filesystem: 14 tools: 1 open /m);
  assert.match(made.out, /^gate\/writ\.yaml:\d+: REPLACE_WITH_A_FOLDER$/m);
  assert.match(made.out, /writ check gate\/writ\.yaml\n {2}writ serve gate\/writ\.yaml$/m);
  assert.match(made.out, /^Warning: these files are in \S+, which a server was given/m); // dir has gate/
  assert.match(made.out, /^ {2}sed -i 's\|REPLACE_WITH_A_FOLDER\|YOUR_VALUE\|' gate\/writ\.yaml /m);
  const block = JSON.parse(made.out.trimEnd().split('\n').at(-1));
  assert.equal(block.mcpServers.writ.headers.Authorization, `Bearer ${token}`);
});

test('init_warns_of_a_folder_of_a_server_that_has_the_tokens', (t) => {
  const dir = folderOf(t);
  mkdirSync(join(dir, 'box'));
  symlinkSync(dir, join(dir, 'box/link'));
  const listing = ['servers/listing-stdio.mjs', 'gateway/poisoned.json'].map((f) => join(SUPPORT, f));
  const exposed = (given, out, program = [server('filesystem')]) => JSON.parse(writ(['init', '--json', '--out', out,
    '--', process.execPath, ...program, given], { cwd: dir }).out).exposed;
  assert.equal(exposed('.', 'a'), '.');
  assert.equal(exposed('box/link', 'b'), 'box/link');
  assert.equal(exposed(dir, 'c'), dir);
  assert.equal(exposed('box', 'd'), undefined);
  assert.equal(exposed(join(dir, 'box'), 'e'), undefined);
  assert.equal(exposed(`--root=${dir}`, 'f', [...listing, 'poisoned']), `--root=${dir}`);
  assert.equal(exposed('--root=box', 'g', [...listing, 'poisoned']), undefined);
});

test('init_warns_of_definitions_that_address_the_model', (t) => {
  const dir = folderOf(t);
  const listing = ['servers/listing-stdio.mjs', 'gateway/poisoned.json'].map((f) => join(SUPPORT, f));
  const made = (out, ...more) => writ(['init', '--out', out, ...more, '--', process.execPath, ...listing, 'poisoned'],
    { cwd: dir });
  const { code, out } = made('a');
  assert.equal(code, 0);
  assert.match(out, /^Warning: read these before you trust the server/m);
  assert.match(out, /^ {2}listing-stdio\/add: addresses \/description: prompt\.conceal@1: do not tell$/m);
  assert.ok(JSON.parse(made('b', '--json').out).oddities > 20);
});

test('init_writes_no_character_that_hides_and_the_configuration_means_the_same', (t) => {
  const dir = folderOf(t), hides = /[\p{Cf}\p{Zl}\p{Zp}\u0080-\u009f\u{e0000}-\u{e0fff}]/u;
  const odd = 'a\u202eb\u200bc\u{e0041}\u2028d';
  const schema = { type: 'object', description: odd, required: [odd], properties: {
    [odd]: { type: 'string', enum: [odd, 'plain'], description: odd, title: odd, default: odd },
    form: { type: 'string', pattern: `^${odd}$`, description: odd }, url: { type: 'string', format: odd },
    one: { const: { [odd]: odd } } } };
  writeFileSync(join(dir, 'tools.json'), JSON.stringify([
    { name: 'pick', title: odd, description: odd, inputSchema: schema, annotations: { title: odd } },
    { name: odd, description: odd, inputSchema: { type: 'object' } }]));
  const made = writ(['init', '--out', 'a', '--', process.execPath, join(SUPPORT, 'servers/listing-stdio.mjs'),
    'tools.json'], { cwd: dir });
  assert.equal(made.code, 0, made.err);
  const config = readFileSync(join(dir, 'a/writ.yaml'), 'utf8');
  assert.doesNotMatch(config, hides);
  assert.doesNotMatch(made.out, hides);
  assert.match(config, /a\\u202eb\\u200bc\\U000e0041\\u2028d/);
});

test('init_overwrites_nothing_and_writes_nothing_for_a_server_that_fails', (t) => {
  const dir = folderOf(t);
  const command = ['--', process.execPath, server('memory')];
  const failed = writ(['init', '--out', 'a', '--', process.execPath, '-e', '0'], { cwd: dir });
  assert.equal(failed.code, 4, failed.out);
  assert.deepEqual(readdirSync(dir), []);
  for (const name of ['writ.yaml', 'keys', 'ledger.db', 'agent.token', 'owner.token']) {
    const home = join(dir, `with-${name.split('.')[0]}`);
    mkdirSync(home);
    writeFileSync(join(home, name), 'mine');
    const refused = writ(['init', '--out', home, ...command], { cwd: dir });
    assert.equal(refused.code, 3, refused.out);
    assert.match(refused.err, new RegExp(`/${name}: exists`));
    assert.deepEqual(readdirSync(home), [name]);
    assert.equal(readFileSync(join(home, name), 'utf8'), 'mine');
  }
});

test('init_refuses_what_it_cannot_name', (t) => {
  const dir = folderOf(t);
  const url = 'http://127.0.0.1:1/mcp';
  for (const [args, said] of [
    [['--agent', 'owner', url], /--agent/], [['--agent', 'a b', url], /--agent/], [['--port', '65535', url], /--port/],
    [['--name', 'a b', url], /name of a server/], [[`a__b=${url}`], /name of a server/],
    [['--name', 'a', `b=${url}`, `c=${url}`], /--name/], [['http://example.com/mcp'], /plain http/],
    [[`a=${url}`], /"a"/],
  ]) {
    const run = writ(['init', ...args], { cwd: dir });
    assert.ok([3, 4].includes(run.code), `${args}: ${run.code}`);
    assert.match(run.err, said, `${args}: ${run.err}`);
  }
  assert.equal(writ(['init'], { cwd: dir }).code, 2);
  assert.deepEqual(readdirSync(dir), []);
});

test('init_names_a_server_after_its_package_or_program', (t) => {
  const dir = folderOf(t);
  for (const [command, name] of [
    ['/x/npx -y @modelcontextprotocol/server-foo@1.2 /srv', 'foo'], ['/x/mcp-server-git --repository /r', 'git'],
    ['/x/uvx mcp-server-fetch', 'fetch'], ['/x/python -m mcp_weather', 'weather'], ['/x/a_b.c', 'a-b'],
    ['/x/node /a/server-everything/dist/index.js', 'everything'], ['/x/server', 'x'], ['/server', 'tools'],
    ['/x/docker run -i --rm ghcr.io/acme/crm-mcp:latest', 'crm'],
  ]) {
    const run = writ(['init', '--', ...command.split(' ')], { cwd: dir });
    assert.equal(run.code, 4, run.out);
    assert.ok(run.err.startsWith(`writ init: "${name}" (`), `${command}: ${run.err}`);
  }
  assert.deepEqual(readdirSync(dir), []);
});

test('init_names_the_folder_of_a_program_that_it_found_there', (t) => {
  const dir = folderOf(t);
  writeFileSync(join(dir, 'server.mjs'), `import(${JSON.stringify(server('memory'))})`);
  const made = writ(['init', '--out', 'gate', '--', process.execPath, 'server.mjs'], { cwd: dir });
  assert.equal(made.code, 0, made.err);
  assert.match(readFileSync(join(dir, 'gate/writ.yaml'), 'utf8'), new RegExp(`^ {4}directory: "?${dir}`, 'm'));
  assert.match(made.out, /^tools: 9 tools/m); // server.mjs says nothing
});
