// writ init --client and --from: the client's own file. What is written has the form that the client's documentation
// shows, the rest of the file stays byte for byte, --undo takes it back, and the SDK's client, which gets only what
// stands in the written file, makes an allowed call.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync,
  statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { BIN, SOURCE, serveFolder, until, writ, writBeside } from '../support/js/gateway.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { resolve, sdk1 } from '../support/npm/peers.mjs';

const server = (name) => resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
const MEMORY = ['--', process.execPath, server('memory')];
const PROGRAM = realpathSync(BIN);

function folderOf(t) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-initclients-')));
  t.after(() => { if (!process.env.WRIT_KEEP) rmSync(dir, { recursive: true, force: true }); });
  return dir;
}

function init(dir, args, { code = 0, env = {} } = {}) {
  const made = writ(['init', ...args], { cwd: dir, env: { ...process.env, ...env } });
  assert.equal(made.code, code, `${args.join(' ')}: ${made.out}${made.err}`);
  return made;
}

const modeOf = (path) => statSync(path).mode & 0o777;
const tokenOf = (dir, gate = 'gate') => readFileSync(join(dir, gate, 'agent.token'), 'utf8');
/** JSON with comments and commas at ends, as these clients read it. */
const parse = (bytes) => JSON.parse(bytes.replace(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[^]*?\*\//g, '$1')
  .replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1'));

// What each client's documentation shows: for a server at a URL with a header, or where it shows none, for a program.
const web = (url, extra = {}) => (way, token) =>
  ({ ...extra, [url]: `${way}/mcp`, headers: { Authorization: `Bearer ${token}` } });
const program = (extra = {}) => (gate, name) => ({ ...extra, command: PROGRAM,
  args: ['wrap', '--config', join(gate, 'writ.yaml'), '--name', name, '--token', join(gate, 'agent.token')] });
const CLIENTS = {
  // Connect to local MCP servers, modelcontextprotocol.io/docs/develop/connect-local-servers
  'claude-desktop': { member: 'mcpServers', program: program() },
  // Connect Claude Code to tools via MCP, code.claude.com/docs/en/mcp
  'claude-code': { member: 'mcpServers', web: web('url', { type: 'http' }), program: program({ type: 'stdio' }),
    user: '.claude.json' },
  // MCP configuration reference, code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: { member: 'servers', web: web('url', { type: 'http' }), program: program({ type: 'stdio' }),
    user: '.config/Code/User/mcp.json' },
  // Model Context Protocol (MCP), cursor.com/docs/mcp
  cursor: { member: 'mcpServers', web: web('url'), program: program(), user: '.cursor/mcp.json' },
  // Cascade MCP Integration, docs.windsurf.com/windsurf/cascade/mcp
  windsurf: { member: 'mcpServers', web: web('serverUrl'), program: program(),
    user: '.codeium/windsurf/mcp_config.json' },
  // MCP Overview, docs.cline.bot/mcp/mcp-overview
  cline: { member: 'mcpServers', program: program(), user: '.cline/data/settings/cline_mcp_settings.json' },
  // Model Context Protocol, zed.dev/docs/ai/mcp
  zed: { member: 'context_servers', web: web('url'), program: program(), user: '.config/zed/settings.json' },
  // MCP servers with Gemini CLI, geminicli.com/docs/tools/mcp-server/
  'gemini-cli': { member: 'mcpServers', web: web('httpUrl'), program: program(), user: '.gemini/settings.json' },
};

/** A gateway's folder that was made before, for all tests of this file: `gate` on a port, `sock` on a socket. */
const home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-initclients-')));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
init(home, ['--out', 'gate', ...MEMORY]);
init(home, ['--out', 'sock', '--socket', ...MEMORY]);
const GATE = ['--out', join(home, 'gate')], SOCK = ['--out', join(home, 'sock')];

for (const [name, client] of Object.entries(CLIENTS)) {
  test(`init_for_${name}_writes_the_form_that_its_documentation_shows`, (t) => {
    const dir = folderOf(t), file = join(dir, 'mcp.json');
    if (client.web) {
      const shown = init(dir, ['--client', name, '--file', file, ...GATE]);
      const block = { [client.member]: { writ: client.web('http://127.0.0.1:8700', tokenOf(home)) } };
      assert.deepEqual(JSON.parse(shown.out.trimEnd().split('\n').at(-1)), block);
      assert.ok(!existsSync(file));
      const made = init(dir, ['--client', name, '--file', file, ...GATE, '--apply']);
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), block);
      assert.ok(!made.out.includes(tokenOf(home)));
      init(dir, ['--client', name, '--file', file, '--undo']);
    } else {
      const refused = init(dir, ['--client', name, '--file', file, ...GATE, '--apply'], { code: 3 });
      assert.match(refused.err, /listen: unix:/);
    }
    assert.deepEqual(readdirSync(dir), []);
    init(dir, ['--client', name, '--file', file, ...SOCK, '--apply']);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')),
      { [client.member]: { memory: client.program(join(home, 'sock'), 'memory') } });
    assert.equal(modeOf(file), 0o600);
  });
}

test('init_of_a_client_is_on_the_page_with_its_file_and_its_source', () => {
  const page = readFileSync(join(SOURCE, 'docs/clients.md'), 'utf8');
  const table = readFileSync(join(SOURCE, 'gateway/discover/client.tbl.h'), 'utf8')
    .split('#define')[1].replace(/\\\n/g, ' ');
  const rows = [...table.matchAll(/\/\*\s+(.*?),[\s*]+https:\/\/([^\s:]+).*?\*\/\s+X\(([^)]*?)\)(?=\s)/gs)];
  assert.equal(rows.length, Object.keys(CLIENTS).length);
  for (const [, title, address, cells] of rows) {
    const [name, client, linux, macos, project, member, type, url] = [...cells.matchAll(/"([^"]*)"/g)].map((c) => c[1]);
    const code = (cell) => (cell ? `\`${cell}\`` : '');
    const web = [type && `type: ${type}`, url].filter(Boolean).map(code).join(', ') || 'no';
    const row = [code(name), client, linux ? code(linux) : 'pass `--file`', macos === linux ? 'the same' : code(macos),
      code(project), code(member), web];
    assert.ok(page.includes(`| ${row.join(' | ')} |`), row.join(' | '));
    assert.ok(page.includes(`| ${client} | ${title}, \`${address}\` |`), `${client}: ${title}, ${address}`);
    assert.ok(CLIENTS[name], name);
  }
});

test('init_of_a_client_without_file_writes_the_users_own', (t) => {
  for (const [name, { user }] of Object.entries(CLIENTS)) {
    const dir = folderOf(t);
    const options = { env: { HOME: dir, XDG_CONFIG_HOME: '' } };
    if (!user) {
      assert.match(init(dir, ['--client', name, ...SOCK, '--apply'], { ...options, code: 3 }).err, /pass --file/);
      continue;
    }
    const file = join(dir, user);
    mkdirSync(join(file, '../..'), { recursive: true });
    init(dir, ['--client', name, ...SOCK, '--apply'], options);
    assert.equal(modeOf(file), 0o600, name);
    assert.match(init(dir, ['--client', name, '--undo'], options).out, /removed/);
    assert.ok(!existsSync(file), name);
  }
  const dir = folderOf(t);
  init(dir, ['--client', 'zed', ...SOCK, '--apply'], { env: { HOME: '/nonexistent', XDG_CONFIG_HOME: dir } });
  assert.ok(existsSync(join(dir, 'zed/settings.json')));
});

// ---- the rest of the file

const SETTINGS = `// Zed settings
{
\t"theme": "One Dark", // dark
\t"context_servers": {
\t\t/* mine */
\t\t"notes": {"command": "notes", "args": ["--all"]},
\t},
\t"big": 12345678901234567890,
}
`;

test('init_apply_keeps_every_other_byte_and_undo_gives_the_bytes_back', (t) => {
  const dir = folderOf(t), file = join(dir, 'settings.json');
  const apply = () => init(dir, ['--client', 'zed', '--file', file, ...GATE, '--apply']);
  for (const before of [SETTINGS, SETTINGS.replaceAll('\n', '\r\n'), `\ufeff${SETTINGS}`, '{}', '', '{"a":1}']) {
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    apply();
    const after = readFileSync(file, 'utf8');
    const rest = parse(after.replace(/^\ufeff/, ''));
    assert.deepEqual(Object.keys(rest.context_servers).at(-1), 'writ');
    for (const line of before.split('\n')) assert.ok(after.includes(line.replace(/[{},\r]*$/, '')), line);
    assert.equal(modeOf(file), 0o600);
    assert.equal(modeOf(`${file}.writ-backup`), 0o600);
    assert.equal(modeOf(`${file}.writ-undo`), 0o600);
    assert.equal(readFileSync(`${file}.writ-backup`, 'utf8'), before);
    assert.ok(!readFileSync(`${file}.writ-undo`, 'utf8').includes(tokenOf(home)));
    apply();
    assert.equal(readFileSync(file, 'utf8'), after, 'applied twice');

    init(dir, ['--client', 'zed', '--file', file, '--undo']);
    assert.equal(readFileSync(file, 'utf8'), before);
    assert.equal(modeOf(file), 0o640);
    assert.deepEqual(readdirSync(dir), ['settings.json']);
    const again = init(dir, ['--client', 'zed', '--file', file, '--undo'], { code: 1 });
    assert.match(again.out, /nothing to undo/);
  }
});

test('init_undo_of_a_file_that_changed_since_takes_its_own_entries_alone', (t) => {
  const dir = folderOf(t), file = join(dir, 'settings.json');
  writeFileSync(file, SETTINGS);
  init(dir, ['--client', 'zed', '--file', file, ...GATE, '--apply']);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"One Dark"', '"Mine"')
    .replace('"writ": {', '"writ": {"enabled": true,'));
  const undone = JSON.parse(init(dir, ['--client', 'zed', '--file', file, '--undo', '--json']).out);
  assert.deepEqual([undone.undone, undone.left, undone.backup], ['entries', [], 'settings.json.writ-backup']);
  assert.deepEqual(parse(readFileSync(file, 'utf8')), { ...parse(SETTINGS), theme: 'Mine' });
  assert.ok(readFileSync(file, 'utf8').includes('/* mine */'));
  init(dir, ['--client', 'zed', '--file', file, '--undo'], { code: 1 });

  // an entry that leads elsewhere now is the user's; a change between two applies is kept, too
  writeFileSync(file, SETTINGS);
  init(dir, ['--client', 'zed', '--file', file, ...GATE, '--apply']);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"One Dark"', '"Mine"'));
  init(dir, ['--client', 'zed', '--file', file, ...GATE, '--apply']);
  assert.equal(JSON.parse(init(dir, ['--client', 'zed', '--file', file, '--undo', '--json']).out).undone, 'entries');
  assert.deepEqual(parse(readFileSync(file, 'utf8')), { ...parse(SETTINGS), theme: 'Mine' });
  init(dir, ['--client', 'zed', '--file', file, ...GATE, '--apply']);
  writeFileSync(file, readFileSync(file, 'utf8').replace('127.0.0.1:8700', '127.0.0.1:9'));
  const left = JSON.parse(init(dir, ['--client', 'zed', '--file', file, '--undo', '--json']).out);
  assert.deepEqual([left.undone, left.left], ['entries', ['writ']]);
  assert.match(readFileSync(file, 'utf8'), /127\.0\.0\.1:9\//);
});

test('init_apply_writes_through_a_link_and_refuses_places_that_are_not_safe', (t) => {
  const dir = folderOf(t), file = join(dir, 'real/mcp.json'), link = join(dir, 'mcp.json');
  const apply = (path, code = 0) => init(dir, ['--client', 'cursor', '--file', path, ...GATE, '--apply'], { code });
  mkdirSync(join(dir, 'real'));
  writeFileSync(file, '{}');
  symlinkSync('real/mcp.json', link);
  assert.match(apply(link).out, /Written: \S+real\/mcp\.json; beside it mcp\.json\.writ-backup/);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.ok(JSON.parse(readFileSync(file, 'utf8')).mcpServers.writ);
  assert.deepEqual(readdirSync(join(dir, 'real')), ['mcp.json', 'mcp.json.writ-backup', 'mcp.json.writ-undo']);
  init(dir, ['--client', 'cursor', '--file', link, '--undo']);
  assert.equal(readFileSync(file, 'utf8'), '{}');

  symlinkSync('nowhere/mcp.json', join(dir, 'dangling'));
  assert.match(apply(join(dir, 'dangling'), 3).err, /link to a file that does not exist/);
  mkdirSync(join(dir, 'open'));
  chmodSync(join(dir, 'open'), 0o777);
  assert.match(apply(join(dir, 'open/mcp.json'), 3).err, /every user can write there/);
  assert.match(apply(join(dir, 'real'), 3).err, /not a regular file/);
  assert.equal(apply(join(dir, 'a/b/mcp.json'), 3).out, '');
});

test('init_says_how_to_take_it_back_in_words_that_a_shell_does_not_expand', (t) => {
  const dir = folderOf(t), name = "a b'$(touch x)`touch y`.json";
  const out = init(dir, ['--client', 'cursor', '--file', name, ...GATE, '--apply']).out;
  const command = out.match(/To take it back: writ (.*)$/m)[1];
  assert.match(command, /--file 'a b'\\''\$\(touch x\)/);
  assert.match(execFileSync('sh', ['-c', `"$0" ${command}`, BIN], { cwd: dir, encoding: 'utf8' }), /removed/);
  assert.deepEqual(readdirSync(dir), []);
});

test('init_apply_refuses_a_name_that_another_server_has', (t) => {
  const dir = folderOf(t), file = join(dir, 'mcp.json');
  const mine = '{"mcpServers": {"writ": {"url": "https://example.com/mcp"}}}';
  writeFileSync(file, mine);
  const refused = init(dir, ['--client', 'cursor', '--file', file, ...GATE, '--apply'], { code: 3 });
  assert.match(refused.err, /has a server writ that Writ did not write/);
  assert.equal(readFileSync(file, 'utf8'), mine);
  assert.deepEqual(readdirSync(dir), ['mcp.json']);
});

// ---- hostile files

test('init_apply_refuses_a_file_that_it_cannot_read_and_leaves_it', (t) => {
  const dir = folderOf(t), file = join(dir, 'mcp.json');
  for (const [bytes, said] of [
    ['{"mcpServers": []}', /mcpServers is not an object/],
    ['{"mcpServers": null}', /not an object/], ['{"mcpServers": {"writ": [}}', /mcp\.json: line 1/],
    ['{\n"a": 1,\n"a": 2}', /line 3: duplicate member name/], ['[]', /not a JSON object/], ['7', /not a JSON object/],
    ['{"a": "\\ud800"}', /line 1/], ['{} trailing', /line 1: something follows/], ['{} /* no end', /line 1/],
    [`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`, /nested too deeply/], [Buffer.from('{"a":"\xff"}', 'latin1'), /line 1/],
    [Buffer.from('{\0}'), /line 1/], [Buffer.alloc(17 << 20, ' '), /longer than/], ['mcpServers:\n  a: 1\n', /line 1/],
  ]) {
    writeFileSync(file, bytes);
    const refused = init(dir, ['--client', 'cursor', '--file', file, ...GATE, '--apply'], { code: 3 });
    assert.match(refused.err, said, String(bytes).slice(0, 60));
    assert.match(refused.err, /shows what to add by hand/);
    init(dir, ['--client', 'cursor', '--file', file, '--out', 'gate', '--apply', ...MEMORY], { code: 3 });
    assert.ok(readFileSync(file).equals(Buffer.from(bytes)));
    assert.deepEqual(readdirSync(dir), ['mcp.json']);
  }
});

test('init_from_refuses_servers_that_a_configuration_cannot_say_and_names_them', (t) => {
  const dir = folderOf(t), file = join(dir, 'mcp.json');
  const from = (servers, args = [], code = 3) => {
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    return init(dir, ['--from', file, '--out', 'gate', ...args], { code });
  };
  for (const [entry, said] of [
    [{ type: 'sse', url: 'https://example.com/sse' }, /HTTP\+SSE/], [{ url: 'http://example.com/mcp' }, /https/],
    [{ url: 'https://e.com', headers: { A: '1', B: '2' } }, /several headers/], [{ command: 7 }, /texts/],
    [{ command: 'x', env: { A: '${input:a}' } }, /client fills in/], [{ command: '${HOME}/x' }, /client fills in/],
    [{ url: 'https://e.com', headers: { Authorization: 'Bearer a\nb' } }, /control bytes/], [7, /not an object/],
    [{ command: 'x', envFile: '.env' }, /envFile/], [{}, /neither command nor url/],
  ]) {
    const refused = from({ 'a\u001b[31m\u202e$(id)': entry, good: { command: process.execPath } });
    assert.match(refused.err, said, JSON.stringify(entry));
    assert.match(refused.err, /--skip a-31m-id/);
    assert.doesNotMatch(refused.err, /\u001b|\u202e/);
    assert.deepEqual(readdirSync(dir), ['mcp.json']);
  }
  assert.match(from({ a: { command: 'x' } }, ['--skip', 'b']).err, /no server b/);
  assert.match(from({ a: { command: 'x', disabled: true } }).err, /no server to put behind/);
  assert.match(from([]).err, /no object of servers/);
});

// ---- steps that fail

test('init_apply_that_fails_between_its_steps_loses_nothing', (t) => {
  for (const step of ['.writ-backup', '.writ-undo', '']) {
    const dir = folderOf(t), file = join(dir, 'mcp.json');
    const apply = (code) => init(dir, ['--client', 'cursor', '--file', file, ...GATE, '--apply'], { code });
    writeFileSync(file, SETTINGS);
    mkdirSync(`${file}${step}.new/x`, { recursive: true }); // in the way of the file that is renamed
    apply(4);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS, step);
    const undone = init(dir, ['--client', 'cursor', '--file', file, '--undo'], { code: 1 });
    assert.match(undone.out, /nothing to undo/);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS, step);
    rmSync(`${file}${step}.new`, { recursive: true });
    apply(0);
    assert.ok(parse(readFileSync(file, 'utf8')).mcpServers.writ);
    init(dir, ['--client', 'cursor', '--file', file, '--undo']);
    assert.equal(readFileSync(file, 'utf8'), SETTINGS, step);
  }
});

test('init_apply_killed_anywhere_leaves_a_file_that_undo_puts_back', async (t) => {
  const dir = folderOf(t), file = join(dir, 'mcp.json');
  writeFileSync(file, SETTINGS);
  const seen = new Set();
  for (let i = 0; i < 40; i++) {
    const child = spawn(BIN, ['init', '--client', 'cursor', '--file', file, ...GATE, '--apply'], { stdio: 'ignore' });
    const exited = once(child, 'close');
    await until(() => child.exitCode !== null || readdirSync(dir).length > 1 + (i % 4), `a step of run ${i}`);
    child.kill('SIGKILL');
    await exited;
    const names = readdirSync(dir).length;
    seen.add(names);
    const now = parse(readFileSync(file, 'utf8')); // whole, whichever of the two it is
    assert.ok(now.mcpServers === undefined || now.mcpServers.writ, `run ${i}`);
    writ(['init', '--client', 'cursor', '--file', file, '--undo'], { cwd: dir });
    assert.equal(readFileSync(file, 'utf8'), SETTINGS, `run ${i}`);
    for (const name of readdirSync(dir)) if (name !== 'mcp.json') rmSync(join(dir, name));
  }
  t.diagnostic(`kills with ${[...seen].sort().join(', ')} files in the folder`);
});

// ---- from a client's file

/** The client that a written entry describes. */
async function clientOf(t, entry, url) {
  const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await sdk1();
  const client = new Client({ name: 'initclients-test', version: '1' });
  await client.connect(entry.command
    ? new StdioClientTransport({ ...entry, env: { ...process.env, ...entry.env }, stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(url ?? entry.url), { requestInit: { headers: entry.headers } }));
  t.after(() => client.close());
  return client;
}

/** A client's file with the official file server and memory server. */
function filesAndMemory(t) {
  const dir = folderOf(t), file = join(dir, '.cursor/mcp.json');
  mkdirSync(join(dir, '.cursor'));
  mkdirSync(join(dir, 'box'));
  writeFileSync(join(dir, 'box/a.txt'), 'hello');
  writeFileSync(file, JSON.stringify({ mcpServers: {
    'My Files': { command: process.execPath, args: [server('filesystem'), join(dir, 'box')], timeout: 60 },
    memory: { command: process.execPath, args: [server('memory')], cwd: join(dir, 'box'),
      env: { MEMORY_FILE_PATH: join(dir, 'mem #1.jsonl') } },
    old: { command: 'nothing', disabled: true },
  }, other: true }, null, 2));
  return { dir, file, before: readFileSync(file, 'utf8') };
}

/** Replaces the placeholders. */
function fill(dir, gate = 'gate') {
  const config = join(dir, gate, 'writ.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll('REPLACE_WITH_A_FOLDER', join(dir, 'box')));
  assert.equal(writ(['check', config]).code, 0);
}

test('init_from_puts_all_servers_behind_the_gateway_and_their_client_calls_through_it', async (t) => {
  const { dir, file, before } = filesAndMemory(t);
  const port = await reservePort();
  const made = init(dir, ['--from', '.cursor/mcp.json', '--out', 'gate', '--port', `${port}`]);
  assert.match(made.out, /^Not behind Writ: old$/m);
  assert.equal(readFileSync(file, 'utf8'), before);
  const config = readFileSync(join(dir, 'gate/writ.yaml'), 'utf8');
  assert.match(config, /^ {2}My-Files:\n/m);
  assert.match(config, /^ {4}environment: # may be secrets.*\n {6}MEMORY_FILE_PATH: ".*mem #1\.jsonl"$/m);
  assert.match(config, new RegExp(`^ {4}directory: "?${dir}/box`, 'm'));
  assert.equal(modeOf(join(dir, 'gate/writ.yaml')), 0o600);
  fill(dir);
  init(dir, ['--from', '.cursor/mcp.json', '--out', 'gate', '--apply']);
  const written = readFileSync(file, 'utf8');
  const { mcpServers, other } = JSON.parse(written);
  assert.deepEqual(Object.keys(mcpServers), ['My Files', 'memory', 'old']);
  assert.deepEqual(mcpServers['My Files'], { timeout: 60, url: `http://127.0.0.1:${port}/mcp/My-Files`,
    headers: { Authorization: `Bearer ${tokenOf(dir)}` } });
  assert.deepEqual(mcpServers.old, { command: 'nothing', disabled: true });
  assert.equal(other, true);
  init(dir, ['--from', '.cursor/mcp.json', '--out', 'gate', '--apply']);
  assert.equal(readFileSync(file, 'utf8'), written, 'applied twice');
  assert.match(init(dir, ['--from', '.cursor/mcp.json', '--out', 'second', '--apply'], { code: 3 }).err,
    /has servers that Writ wrote/);

  const yaml = join(dir, 'gate/writ.yaml');
  writeFileSync(yaml, readFileSync(yaml, 'utf8').replace(/^admin_listen: .*/m, 'admin_listen: 127.0.0.1:0'));
  const gw = await serveFolder(t, join(dir, 'gate'));
  const files = await clientOf(t, mcpServers['My Files']), memory = await clientOf(t, mcpServers.memory);
  const read = await files.callTool({ name: 'read_text_file', arguments: { path: join(dir, 'box/a.txt') } });
  assert.equal(read.content[0].text, 'hello');
  await assert.rejects(files.callTool({ name: 'read_text_file', arguments: { path: '/etc/passwd' } }),
    (e) => e.data.reason === 'constraint_failed');
  await memory.callTool({ name: 'create_entities',
    arguments: { entities: [{ name: 'Ann', entityType: 'person', observations: [] }] } });
  assert.match(readFileSync(join(dir, 'mem #1.jsonl'), 'utf8'), /Ann/);
  assert.equal(gw.decisions().filter((d) => d.outcome === 'executed').length, 2);

  init(dir, ['--from', '.cursor/mcp.json', '--undo']);
  assert.equal(readFileSync(file, 'utf8'), before);
});

test('init_writes_no_file_with_a_variable_of_a_client_that_others_may_read_whatever_the_umask', (t) => {
  const { dir, file } = filesAndMemory(t);
  const before = process.umask(0);
  t.after(() => process.umask(before));
  chmodSync(file, 0o644);
  init(dir, ['--from', '.cursor/mcp.json', '--out', 'gate']);
  fill(dir);
  init(dir, ['--from', '.cursor/mcp.json', '--out', 'gate', '--apply']);
  const holds = readdirSync(dir, { recursive: true }).map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes('mem #1'));
  assert.deepEqual(holds.map((path) => relative(dir, path)).sort(), ['.cursor/mcp.json.writ-backup', 'gate/writ.yaml']);
  for (const path of [...holds, file]) assert.equal(modeOf(path), 0o600, path);
});

test('init_from_for_a_client_that_starts_programs_leads_each_server_to_a_wrap', async (t) => {
  const { dir, before } = filesAndMemory(t), file = join(dir, 'Claude/claude_desktop_config.json');
  mkdirSync(join(dir, 'Claude'));
  writeFileSync(file, before);
  init(dir, ['--from', file, '--out', 'gate', '--apply']);
  fill(dir);
  assert.match(readFileSync(join(dir, 'gate/writ.yaml'), 'utf8'), /^listen: unix:writ\.sock /m);
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(!readFileSync(file, 'utf8').includes(tokenOf(dir)));
  const config = readFileSync(join(dir, 'gate/writ.yaml'), 'utf8'); // the values stay with the client
  assert.match(config, /^ {4}inherit: \[.?MEMORY_FILE_PATH.?\]$/m);
  assert.ok(!config.includes('mem #1'));
  assert.deepEqual(mcpServers.memory.env, { MEMORY_FILE_PATH: join(dir, 'mem #1.jsonl') });
  const again = readFileSync(file, 'utf8');
  init(dir, ['--from', file, '--out', 'gate', '--apply']);
  assert.equal(readFileSync(file, 'utf8'), again, 'applied twice');
  const memory = await clientOf(t, { ...mcpServers.memory, args: [...mcpServers.memory.args, '--idle', '1'] });
  await memory.callTool({ name: 'create_entities',
    arguments: { entities: [{ name: 'Ann', entityType: 'person', observations: [] }] } });
  assert.match(readFileSync(join(dir, 'mem #1.jsonl'), 'utf8'), /Ann/);
  await memory.close();
  const entry = mcpServers['My Files'];
  const client = await clientOf(t, { ...entry, args: [...entry.args, '--idle', '1'] });
  const read = await client.callTool({ name: 'read_text_file', arguments: { path: join(dir, 'box/a.txt') } });
  assert.equal(read.content[0].text, 'hello');
  await client.close();
  await until(() => !existsSync(join(dir, 'gate/writ.sock')), 'the gateway to end');
});

/** A tool server that wants a header. */
async function startGuarded(t, name, value) {
  const { McpServer, StreamableHTTPServerTransport } = await sdk1();
  const listener = http.createServer(async (req, res) => {
    if (req.headers[name] !== value) return res.writeHead(401).end();
    const mcp = new McpServer({ name: 'guarded', version: '1' });
    mcp.registerTool('ping', { description: 'pings', annotations: { readOnlyHint: true } },
      async () => ({ content: [{ type: 'text', text: 'pong' }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    await mcp.connect(transport);
    return transport.handleRequest(req, res);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => { listener.closeAllConnections(); listener.close(); });
  return `http://127.0.0.1:${listener.address().port}/mcp`;
}

test('init_from_keeps_the_secret_of_a_header_in_a_file_of_its_own', async (t) => {
  const dir = folderOf(t), file = join(dir, 'mcp.json');
  const bearer = await startGuarded(t, 'authorization', 'Bearer s3cret-one');
  const key = await startGuarded(t, 'x-api-key', 's3cret-two'), env = await startGuarded(t, 'x-key', 's3cret-three');
  writeFileSync(file, JSON.stringify({ servers: {
    one: { type: 'http', url: bearer, headers: { Authorization: 'Bearer s3cret-one' } },
    two: { type: 'http', url: key, headers: { 'X-Api-Key': 's3cret-two' } },
    three: { type: 'http', url: env, headers: { 'X-Key': '${env:THREE}' } },
  } }));
  const options = { cwd: dir, env: { ...process.env, THREE: 's3cret-three' } };
  const made = await writBeside(['init', '--from', file, '--client', 'vscode', '--out', 'gate', '--apply'], options);
  assert.equal(made.code, 0, made.err);
  const config = readFileSync(join(dir, 'gate/writ.yaml'), 'utf8');
  for (const bytes of [config, made.out, readFileSync(file, 'utf8')]) assert.ok(!bytes.includes('s3cret'));
  assert.match(config, /^ {6}file: "?one\.secret"?$/m);
  assert.match(config, /^ {6}variable: "?THREE"?\n {6}header: "?X-Key"?\n {6}scheme: ""$/m);
  for (const [name, secret] of [['one', 's3cret-one'], ['two', 's3cret-two']]) {
    assert.equal(readFileSync(join(dir, `gate/${name}.secret`), 'utf8'), secret);
    assert.equal(modeOf(join(dir, `gate/${name}.secret`)), 0o600);
  }
  writeFileSync(join(dir, 'gate/writ.yaml'),
    config.replace(/^(listen|admin_listen): 127\.0\.0\.1:\d+/gm, '$1: 127.0.0.1:0'));
  const gw = await serveFolder(t, join(dir, 'gate'), { env: options.env });
  const { servers } = JSON.parse(readFileSync(file, 'utf8'));
  for (const name of ['one', 'two', 'three']) {
    const client = await clientOf(t, servers[name], `${gw.url}/${name}`);
    assert.equal((await client.callTool({ name: 'ping', arguments: {} })).content[0].text, 'pong');
  }
  const beside = readdirSync(join(dir, 'gate'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && /ledger/.test(join(one.parentPath ?? one.path, one.name)));
  assert.ok(beside.some((one) => /policies/.test(one.parentPath ?? one.path)));
  assert.ok(!beside.some((one) => readFileSync(join(one.parentPath ?? one.path, one.name)).includes('s3cret')));
});

test('init_with_a_token_file_asks_a_url_that_needs_a_secret', async (t) => {
  const dir = folderOf(t), url = await startGuarded(t, 'authorization', 'Bearer s3cret');
  const other = await startGuarded(t, 'x-api-key', 's3cret');
  const refused = await writBeside(['init', '--out', 'gate', `crm=${url}`], { cwd: dir });
  assert.equal(refused.code, 4);
  assert.match(refused.err, /status 401.*--token-file/);
  writeFileSync(join(dir, 'token'), 's3cret\n', { mode: 0o600 });
  const made = await writBeside(['init', '--out', 'gate', '--token-file', 'token', `crm=${url}`], { cwd: dir });
  assert.equal(made.code, 0, made.err);
  assert.match(readFileSync(join(dir, 'gate/writ.yaml'), 'utf8'), new RegExp(`file: "?${dir}/token`));
  const named = await writBeside(['init', '--out', 'two', '--token-file', 'b=token', '--token-header', 'X-Api-Key',
    `b=${other}`], { cwd: dir });
  assert.equal(named.code, 0, named.err);
  for (const [args, said] of [
    [['--token-file', 'token', `a=${url}`, `b=${url}`], /say NAME=FILE/],
    [['--token-file', 'c=token', url], /no server/], [['--token-file', 'none', url], /none/],
    [['--token-file', 'token', '--token-header', 'Accept', url], /--token-header/],
  ]) {
    assert.match((await writBeside(['init', '--out', 'three', ...args], { cwd: dir })).err, said);
  }
  chmodSync(join(dir, 'token'), 0o644);
  assert.match((await writBeside(['init', '--out', 'three', '--token-file', 'token', url], { cwd: dir })).err, /0600/);
  assert.ok(!existsSync(join(dir, 'three')));
});

test('init_from_with_servers_that_do_not_answer_writes_nothing_unless_they_are_skipped', async (t) => {
  const { dir, file } = filesAndMemory(t);
  const port = await reservePort();
  const entries = JSON.parse(readFileSync(file, 'utf8'));
  entries.mcpServers.down = { url: `http://127.0.0.1:${port}/mcp` };
  entries.mcpServers['b c'] = { command: process.execPath, args: ['-e', '0'] };
  writeFileSync(file, JSON.stringify(entries, null, 2));
  const before = readFileSync(file, 'utf8');
  const refused = init(dir, ['--from', file, '--out', 'gate', '--apply'], { code: 4 });
  assert.match(refused.err,
    /^"down" .*\n"b-c" .*\nwrit init: 2 of 4 servers gave no tools.*: down, b-c.*--skip down,b-c$/m);
  assert.ok(!existsSync(join(dir, 'gate')));
  assert.equal(readFileSync(file, 'utf8'), before);
  assert.deepEqual(readdirSync(join(dir, '.cursor')), ['mcp.json']);
  const made = init(dir, ['--from', file, '--out', 'gate', '--apply', '--skip', 'down,b-c']);
  assert.match(made.out, /^Not behind Writ: old, down, "?b c"?$/m);
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  assert.deepEqual(mcpServers.down, entries.mcpServers.down);
  assert.match(mcpServers.memory.url, /\/mcp\/memory$/);
});

test('init_for_a_socket_refuses_a_folder_that_others_may_enter_and_a_long_path', (t) => {
  const dir = folderOf(t), long = 'a'.repeat(110);
  mkdirSync(join(dir, 'open'));
  chmodSync(join(dir, 'open'), 0o755);
  assert.match(init(dir, ['--out', 'open', '--socket', ...MEMORY], { code: 3 }).err, /chmod 700/);
  assert.match(init(dir, ['--out', long, '--socket', ...MEMORY], { code: 3 }).err, /path of the Unix socket/);
  assert.match(init(dir, ['--client', 'cursor', ...GATE, '--socket'], { code: 3 }).err, /listens on an address/);
  assert.deepEqual(readdirSync(dir), ['open']);
  assert.match(readFileSync(join(home, 'sock/writ.yaml'), 'utf8'), /^admin_listen: 127\.0\.0\.1:0 /m);
});

test('init_from_warns_of_a_folder_in_an_argument_or_a_variable_that_has_the_tokens', (t) => {
  const dir = folderOf(t), file = join(dir, 'mcp.json');
  mkdirSync(join(dir, 'box'));
  for (const [out, entry, exposed] of [
    ['a', { args: [server('filesystem'), '..'], cwd: join(dir, 'box') }, '..'],
    ['b', { args: [server('memory')], env: { ROOT: dir } }, dir],
    ['c', { args: [server('filesystem'), '.'], cwd: join(dir, 'box') }, undefined],
  ]) {
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { command: process.execPath, ...entry } } }));
    assert.equal(JSON.parse(init(dir, ['--from', file, '--out', out, '--json']).out).exposed, exposed);
  }
});

test('init_of_a_client_refuses_words_that_do_not_go_together', (t) => {
  const dir = folderOf(t);
  for (const [args, code] of [
    [[], 2], [['--undo', '--apply', '--client', 'cursor'], 2], [['--from', 'x', 'http://127.0.0.1:1/'], 2],
    [['--skip', 'a', 'http://127.0.0.1:1/'], 2], [['--token-header', 'A', 'http://127.0.0.1:1/'], 2],
    [['--client', 'emacs', ...GATE], 2], [['--client', 'cursor'], 3], [['--undo'], 2],
    [['--from', 'x', '--file', 'y', ...GATE], 2], [['--apply', ...MEMORY], 2],
  ]) {
    const refused = init(dir, args, { code });
    assert.notEqual(refused.err, '', args.join(' '));
  }
  assert.deepEqual(readdirSync(dir), []);
});
