// writ init against the official servers, as a user does it: one command, the placeholders replaced by sed,
// writ check, writ serve, and the official SDK's client with the block that init printed. Every call of an honest
// session runs (with the owner's approval where the rule wants one), and no hostile call reaches the server.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { text } from 'node:stream/consumers';
import { BIN, SOURCE, serveFolder, writ } from '../support/js/gateway.mjs';
import { resolve, sdk1 } from '../support/npm/peers.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';

const server = (name) => resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
const SUPPORT = absolute(SOURCE, 'tests/support');
const LONG = 'a'.repeat(70_000);

/** A folder that goes with the test; without links in its path, as file servers name it. */
function folderOf(t) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-init-')));
  t.after(() => { if (!process.env.WRIT_KEEP) rmSync(dir, { recursive: true, force: true }); });
  return dir;
}

/** Runs `writ` while servers of this process answer it. */
async function run(args, options) {
  const child = spawn(BIN, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** Replaces placeholders as the printed hint says, and puts the listeners on free ports. */
function fill(config, values) {
  let yaml = readFileSync(config, 'utf8');
  for (const [name, value] of Object.entries(values)) yaml = yaml.replaceAll(name, value);
  writeFileSync(config, yaml.replace(/^(listen|admin_listen): 127\.0\.0\.1:\d+/gm, '$1: 127.0.0.1:0'));
}

async function connect(t, gw, block) {
  const { Client, StreamableHTTPClientTransport } = await sdk1();
  const client = new Client({ name: 'init-test', version: '1' });
  const { headers } = block.mcpServers.writ;
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.url), { requestInit: { headers } }));
  t.after(() => client.close());
  return client;
}

/** The owner approves the one open review, as the page does. */
async function approve(gw, token, id) {
  const ask = (path, body) => fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews/${id}${path}`, {
    method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
  }).then((res) => res.json());
  const { review_digest } = await ask('');
  assert.equal((await ask('/vote', { vote: 'approve', review_digest })).state, 'approved');
}

/** The reason of a refusal, with its data; undefined for a call that ran. */
async function refusalOf(client, call) {
  try {
    await client.callTool(call);
    return undefined;
  } catch (error) {
    assert.equal(error.code, -31001, error.stack);
    return error.data;
  }
}

const SESSIONS = [
  {
    name: 'filesystem', args: (box) => [box], fill: (box) => ({ REPLACE_WITH_A_FOLDER: box }), tools: 14,
    honest: (box) => [
      ['list_allowed_directories', {}],
      ['list_directory', { path: box }],
      ['create_directory', { path: join(box, 'notes') }],
      ['write_file', { path: join(box, 'notes/a.txt'), content: 'one\ntwo\n' }],
      ['read_text_file', { path: join(box, 'notes/a.txt') }],
      ['read_text_file', { path: join(box, 'notes/a.txt'), head: 1 }],
      ['read_text_file', { path: join(box, 'notes/a.txt') }],
      ['read_multiple_files', { paths: [join(box, 'notes/a.txt')] }],
      ['edit_file', { path: join(box, 'notes/a.txt'), edits: [{ oldText: 'one', newText: 'three' }], dryRun: false }],
      ['move_file', { source: join(box, 'notes/a.txt'), destination: join(box, 'notes/b.txt') }],
      ['list_directory_with_sizes', { path: join(box, 'notes'), sortBy: 'size' }],
      ['directory_tree', { path: box, excludePatterns: ['*.log'] }],
      ['search_files', { path: box, pattern: '*.txt' }],
      ['get_file_info', { path: join(box, 'notes/b.txt') }],
    ],
    hostile: (box) => [
      ['read_text_file', { path: '/etc/passwd' }],
      ['read_text_file', { path: `${box}/../other` }],
      ['read_text_file', { path: `${box}-evil/a` }],
      ['read_text_file', { path: `${box}/%2e%2e/a` }],
      ['read_text_file', { path: 'notes/b.txt' }],
      ['read_text_file', { path: [join(box, 'notes/b.txt')] }],
      ['read_text_file', { path: join(box, 'notes/b.txt'), follow: true }],
      ['read_text_file', { path: join(box, 'notes/b.txt'), head: -1 }],
      ['read_text_file', { path: join(box, 'notes/b.txt'), head: '1' }],
      ['read_text_file', {}],
      ['read_multiple_files', { paths: [join(box, 'notes/b.txt'), '/etc/passwd'] }],
      ['read_multiple_files', { paths: [] }],
      ['write_file', { path: join(box, 'x'), content: LONG }],
      ['write_file', { path: '/tmp/x', content: 'x' }],
      ['edit_file', { path: join(box, 'notes/b.txt'), edits: [{ oldText: 'a', newText: 'b', all: true }] }],
      ['move_file', { source: join(box, 'notes/b.txt'), destination: '/tmp/b.txt' }],
      ['move_file', { source: '/etc/hostname', destination: join(box, 'h') }],
      ['list_directory_with_sizes', { path: box, sortBy: 'owner' }],
      ['list_allowed_directories', { extra: 1 }],
      ['create_directory', { path: join(box, 'notes') }], // a second time in one session
      ['no_such_tool', {}],
    ],
  },
  {
    name: 'everything', args: () => [], fill: () => ({ REPLACE_WITH_A_HOST: 'example.com' }), tools: 13,
    honest: () => [
      ['echo', { message: 'hello' }],
      ['get-sum', { a: 1, b: 2.5 }],
      ['get-annotated-message', { messageType: 'success', includeImage: true }],
      ['get-resource-links', { count: 3 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['get-structured-content', { location: 'New York' }],
      ['get-tiny-image', {}],
      ['get-env', {}],
      ['trigger-long-running-operation', { duration: 0.01, steps: 1 }],
      ['toggle-simulated-logging', {}],
      ['toggle-subscriber-updates', {}],
    ],
    hostile: () => [
      ['echo', { message: LONG }],
      ['echo', { message: 1 }],
      ['echo', { message: 'x', extra: 'y' }],
      ['get-sum', { a: '1', b: 2 }],
      ['get-sum', { a: 1e300, b: 2 }],
      ['get-annotated-message', { messageType: 'fatal' }],
      ['get-resource-links', { count: 11 }],
      ['get-structured-content', { location: 'Atlantis' }],
      ['gzip-file-as-resource', { name: 'a.gz', data: 'https://evil.test/x' }],
      ['gzip-file-as-resource', { name: 'a.gz', data: 'https://example.com.evil.test/x' }],
      ['gzip-file-as-resource', { name: '../a.gz', data: 'https://example.com/x' }],
      ['gzip-file-as-resource', { name: 'a.gz', data: 'file:///etc/passwd' }],
      ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,x' }],
      ['trigger-long-running-operation', { duration: 1e9 }],
    ],
  },
  {
    name: 'memory', args: () => [], fill: () => ({}), tools: 9, inherit: 'MEMORY_FILE_PATH',
    honest: () => [
      ['create_entities', { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] },
        { name: 'Bob', entityType: 'person', observations: [] }] }],
      ['create_relations', { relations: [{ from: 'Ann', to: 'Bob', relationType: 'knows' }] }],
      ['add_observations', { observations: [{ entityName: 'Bob', contents: ['likes coffee'] }] }],
      ['read_graph', {}],
      ['search_nodes', { query: 'tea' }],
      ['open_nodes', { names: ['Ann'] }],
      ['delete_observations', { deletions: [{ entityName: 'Bob', observations: ['likes coffee'] }] }],
      ['delete_relations', { relations: [{ from: 'Ann', to: 'Bob', relationType: 'knows' }] }],
      ['delete_entities', { entityNames: ['Bob'] }],
      ['read_graph', {}],
    ],
    hostile: () => [
      ['create_entities', { entities: [{ name: 'Eve', entityType: 'person', observations: ['x'], admin: true }] }],
      ['create_entities', { entities: [{ name: 'Eve', entityType: 'person', observations: [7] }] }],
      ['create_entities', { entities: Array.from({ length: 101 }, (_, i) =>
        ({ name: `e${i}`, entityType: 'x', observations: [] })) }],
      ['create_entities', { entities: {} }],
      ['create_relations', { relations: [{ from: 'Ann', to: 'Bob' }] }],
      ['add_observations', { observations: [{ entityName: 'Ann', contents: [LONG] }] }],
      ['search_nodes', { query: LONG }],
      ['search_nodes', { query: { $ne: '' } }],
      ['open_nodes', { names: 'Ann' }],
      ['delete_entities', { entityNames: ['Ann'], force: true }],
    ],
  },
  {
    name: 'sequential-thinking', args: () => [], fill: () => ({}), tools: 1,
    honest: () => [
      ['sequentialthinking', { thought: 'first', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'no: otherwise', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2,
        isRevision: true, revisesThought: 1, branchFromThought: 1, branchId: 'b', needsMoreThoughts: false }],
    ],
    hostile: () => [
      ['sequentialthinking', { thought: LONG, nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'x', nextThoughtNeeded: 'rm -rf', thoughtNumber: 1, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'x', nextThoughtNeeded: true, thoughtNumber: 0, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'x', nextThoughtNeeded: true, thoughtNumber: 1.5, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'x', nextThoughtNeeded: true, thoughtNumber: 1 }],
      ['sequentialthinking', { thought: 'x', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2, url: 'x' }],
    ],
  },
];

for (const session of SESSIONS) {
  test(`init_in_front_of_${session.name}_allows_honest_calls_and_refuses_hostile_ones`, async (t) => {
    const dir = folderOf(t), box = join(dir, 'box'), home = join(dir, 'gateway');
    const env = { ...process.env, MEMORY_FILE_PATH: join(dir, 'memory.jsonl') };
    mkdirSync(box);
    const began = performance.now();
    const inherit = session.inherit ? ['--inherit', session.inherit] : [];
    const made = writ(['init', '--out', home, ...inherit, '--json', '--', process.execPath, server(session.name),
      ...session.args(box)], { cwd: dir, env });
    assert.equal(made.code, 0, made.err);
    const answer = JSON.parse(made.out);
    assert.equal(answer.servers[0].name, session.name);
    assert.equal(answer.servers[0].tools, session.tools);

    const lines = readFileSync(answer.config, 'utf8').split('\n');
    const unfilled = writ(['check', answer.config]);
    assert.equal(unfilled.code, answer.placeholders.length > 0 ? 1 : 0, unfilled.out + unfilled.err);
    for (const { line, value } of answer.placeholders) {
      assert.ok(lines[line - 1].includes(value));
      assert.match(unfilled.out + unfilled.err, new RegExp(`writ.yaml:${line}: .*placeholder ${value}`));
    }
    fill(answer.config, session.fill(box));
    const check = writ(['check', answer.config]);
    assert.equal(check.code, 0, check.out + check.err);
    assert.match(check.out, /warnings: 0/);

    const gw = await serveFolder(t, home, { env });
    const client = await connect(t, gw, answer.client);
    const owner = readFileSync(answer.owner_token_file, 'utf8');
    let reviewed = 0;
    for (const [tool, args] of session.honest(box)) {
      const call = { name: `${session.name}__${tool}`, arguments: args };
      let refused = await refusalOf(client, call);
      if (refused?.reason === 'approval_required') {
        reviewed++;
        await approve(gw, owner, refused.continuation_id);
        refused = await refusalOf(client, call);
      }
      assert.equal(refused, undefined, `${tool} ${JSON.stringify(args)}: ${JSON.stringify(refused)}`);
      if (call.name.endsWith(session.honest(box)[0][0]) && !session.timed) {
        session.timed = performance.now() - began;
        t.diagnostic(`from init to the first governed call: ${Math.round(session.timed)} ms`);
      }
    }
    const ran = gw.decisions().filter((d) => d.outcome === 'executed').length;
    assert.equal(ran, session.honest(box).length);
    t.diagnostic(`${ran} honest calls ran, ${reviewed} of them approved`);

    for (const [tool, args] of session.hostile(box)) {
      const refused = await refusalOf(client, { name: `${session.name}__${tool}`, arguments: args });
      assert.ok(refused && refused.reason !== 'approval_required',
        `${tool} ${JSON.stringify(args).slice(0, 200)} passes`);
    }
    assert.equal(gw.decisions().filter((d) => d.outcome === 'executed').length, ran);
    t.diagnostic(`${session.hostile(box).length} hostile calls were refused`);
    gw.verify();
  });
}

test('init_asks_several_servers_by_url_and_names_each', async (t) => {
  const dir = folderOf(t);
  const up = await startSdkUpstream(t), other = await startSdkUpstream(t);
  const made = await run(['init', `first=${up.url}`, `second=${other.url}`, '--json', '--agent', 'nightly', '--port',
    '9000'], { cwd: dir });
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
  assert.match(out, /^ {2}listing-stdio\/add: addresses \/description: conceal: do not tell$/m);
  assert.ok(JSON.parse(made('b', '--json').out).oddities > 20);
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
