// `writ crew`: the scenarios of the public library's behaviour, and where we deviate on purpose.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buildExample, inC } from '../support/js/examples.mjs';
import { flags, install } from '../support/js/installation.mjs';

const writ = process.env.WRIT_BIN;
const source = process.env.WRIT_SOURCE_DIR;
const golden = join(source, 'vectors/crew-golden');
const run = (...args) => spawnSync(writ, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
const vectors = (...args) => spawnSync(`${writ}-vectors`, args, { encoding: 'utf8', maxBuffer: 1 << 26 });

// The rows of the table of deviations that name a scenario which differs.
function deviations() {
  const rows = readFileSync(join(source, 'crew/README.md'), 'utf8').split('\n')
    .filter((line) => /^\| \d+b? \|/.test(line) && !line.includes('no difference'));
  return rows.flatMap((row) => row.match(/[a-z0-9-]+\.json/g) ?? []).sort();
}

test('the golden scenarios give the published logs byte for byte, except listed deviations', () => {
  const ran = vectors('run', golden, '--json');
  const { passed, failures } = JSON.parse(ran.stdout);
  assert.deepEqual(failures.map(({ file }) => basename(file)).sort(), deviations());
  assert.ok(passed > 70, `${passed} passed`);
  assert.equal(ran.status, 1);
});

test('a difference is named with its step and what was expected', () => {
  const scenario = JSON.parse(readFileSync(join(golden, 'lifecycle-basic-1.json'), 'utf8'));
  scenario.expect.steps[1].status = 'completed';
  const file = join(mkdtempSync(join(tmpdir(), 'writ-crew-')), 'one.json');
  writeFileSync(file, JSON.stringify(scenario));
  const ran = vectors('run', file);
  assert.equal(ran.status, 1);
  assert.match(ran.stdout, /one\.json: +step 1, byte \d+:\n {4}expected .*completed/);
  assert.match(ran.stdout, /0 passed, 1 failed, /);
});

test('canonicalize keeps the last of duplicate members', () => {
  const scenario = JSON.parse(readFileSync(join(golden, 'canonical-keys-1.json'), 'utf8'));
  const file = join(mkdtempSync(join(tmpdir(), 'writ-crew-')), 'one.json');
  const at = scenario.steps.findIndex(({ text }) => text === '{"b":1,"a":2,"b":3}');
  const ran = (expected) => {
    scenario.expect.steps[at] = expected;
    writeFileSync(file, JSON.stringify(scenario));
    return vectors('run', file);
  };
  assert.equal(ran({ result: '{"a":2,"b":3}' }).status, 0);
  for (const wrong of [{ result: '{"a":2,"b":1}' }, { error: { code: 'non_finite' } }]) {
    assert.equal(ran(wrong).status, 1);
    assert.match(ran(wrong).stdout, new RegExp(`one\\.json: +step ${at}, byte \\d+:`));
  }
});

test('writ-vectors run counts files of other formats and fails on a named one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-crew-'));
  writeFileSync(join(folder, 'a.json'), '{"format":"other"}');
  writeFileSync(join(folder, 'b.json'), '{"a":1,"a":2}');
  const found = vectors('run', folder);
  assert.equal(found.status, 1);
  assert.match(found.stdout, /^0 passed, 0 failed, 2 files/);
  const named = vectors('run', join(folder, 'a.json'), join(folder, 'b.json'));
  assert.equal(named.status, 1);
  assert.match(named.stdout, /a\.json: .*\n.*b\.json: duplicate.*\n0 passed, 2 failed/s);
  const missing = vectors('run', join(folder, 'missing.json'));
  assert.equal(missing.status, 3);
  assert.match(missing.stderr, /missing\.json/);
});

const folder = () => mkdtempSync(join(tmpdir(), 'writ-crew-'));
const put = (dir, name, value) => {
  const file = join(dir, name);
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
};

test('crew check reports all faults of a shape, and crew draw draws it', () => {
  const dir = folder();
  const scenario = JSON.parse(readFileSync(join(golden, 'nested-three-levels.json'), 'utf8'));
  const shape = put(dir, 'shape.json', scenario.shape);
  mkdirSync(join(dir, 'registry'));
  for (const [key, value] of Object.entries(scenario.registry)) put(dir, `registry/${key}.json`, value);
  const registry = ['--registry', join(dir, 'registry')];

  const ran = run('crew', 'check', shape, ...registry);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /^ok: 3 agents/);
  assert.match(run('crew', 'check', shape).stdout, /unknown_nested_crew/);
  const dot = run('crew', 'graph', '--dot', shape, ...registry);
  assert.match(dot.stdout, /^digraph crew \{[^]*"0\.1\/b0"[^]*\}\n$/);

  const bad = put(dir, 'bad.json', { schema_version: '2.0', name: '', roles: [{ role: 'a', permissions: 1 }] });
  const refused = run('crew', 'check', bad);
  assert.equal(refused.status, 3);
  for (const path of ['/schema_version', '/name', '/roles/0/permissions'])
    assert.ok(refused.stderr.includes(path), refused.stderr);
  const linted = run('crew', 'check', put(dir, 'lint.json',
    { schema_version: '1.0', name: 'X', roles: [{ role: 'a', permissions: { talk_to: ['b'] } }] }), '--json');
  assert.equal(linted.status, 1);
  assert.deepEqual(JSON.parse(linted.stdout).findings.map((f) => f.code),
    ['missing_first_input', 'missing_final_output', 'unknown_role_reference']);
});

// Graphviz's drawing of a shape: { crew: { role: [edges] } }.
function drawn(dot) {
  const ran = spawnSync('dot', ['-Tdot_json'], { input: dot, encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(ran.status, 0, ran.stderr);
  const { objects, edges = [] } = JSON.parse(ran.stdout);
  const roles = Object.fromEntries(objects.filter(({ nodes }) => !nodes)
    .map((o) => [o.name, { label: o.label, amount: o.xlabel }]));
  const crews = objects.filter(({ nodes }) => nodes).map(({ label }) => label);
  return { crews, roles,
    edges: edges.map(({ tail, head, label }) => [objects[tail].label, label, objects[head].label]) };
}

test('Graphviz draws roles, permissions and nesting, whatever roles are called', () => {
  const dir = folder();
  mkdirSync(join(dir, 'registry'));
  const names = ['"quoted"', 'back\\slash\\', '<b>html</b>', 'new\nline', '\u{1F600} \u4e2d', 'a]; evil [label="x'];
  const roles = names.map((role, at) =>
    ({ role, permissions: at ? {} : { talk_to: names.slice(1), escalate_to: [names[1]] }, amount: at + 1,
    ...(at === 0 && { first_input: true }), ...(at === 5 && { final_output: true, nested_crew: 'n0' }) }));
  // deeper than any name is long
  for (let at = 0; at < 14; at++) {
    put(dir, `registry/n${at}.json`,
      { schema_version: '1.0', name: `level ${at}`, roles: [{ role: 'same', permissions: {}, amount: 1,
      first_input: true, final_output: true, ...(at < 13 && { nested_crew: `n${at + 1}` }) }] });
  }
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'outer', roles });
  const ran = run('crew', 'graph', '--dot', shape, '--registry', join(dir, 'registry'));
  assert.equal(ran.status, 0, ran.stderr);
  const { crews, roles: nodes, edges } = drawn(ran.stdout);
  assert.equal(crews.length, 15);
  assert.equal(Object.keys(nodes).length, 6 + 14);
  assert.deepEqual(Object.values(nodes).slice(0, 6).map(({ label }) => label.replace(/\\\\/g, '\\')),
    names.map((name) => name.replace('\n', ' ')));
  assert.equal(edges.length, 6);
  assert.equal(edges.filter(([, label]) => label === 'escalate_to').length, 1);
});

test('votes and rankings are counted and explained', () => {
  const dir = folder();
  const votes = put(dir, 'votes.json', {
    votes: ['approve', 'reject', 'approve'].map((output, at) => ({ agentId: `v-${at}`, output })),
    voting: { threshold: '2/3' },
  });
  const ran = run('crew', 'vote', 'review', votes, '--json');
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(JSON.parse(ran.stdout).value, 'ACCEPT');
  assert.match(JSON.parse(ran.stdout).why, /2 approve, 1 reject, 0 modify: approval 66\.7 %/);
  assert.equal(run('crew', 'vote', 'unanimous', votes).status, 1);
  assert.match(run('crew', 'vote', 'plurality', votes).stderr, /\/mode: invalid_value/);
  const rankings = put(dir, 'rankings.json',
    { candidates: ['b', 'a'], rankings: { x: ['a', 'b'], y: ['b', 'a'] } });
  assert.match(run('crew', 'vote', 'majority', rankings).stdout, /resolved: "b"/);
  assert.match(run('crew', 'vote', 'borda', rankings).stdout, /resolved: "a"/);
});

// Everything an example needs is what an installation has.
function prefixIn(dir) {
  const prefix = join(dir, 'prefix');
  install(process.env.WRIT_BUILD_DIR, prefix);
  return prefix;
}

/** Builds an example as its README says, against an installation, which it returns. */
function built(example, dir) {
  const prefix = prefixIn(dir);
  buildExample(example, prefix, dir);
  return prefix;
}

test('the consensus example runs from the command line: three languages and the pool', () => {
  const dir = folder();
  const from = join(source, 'examples/consensus');
  for (const file of readdirSync(from)) cpSync(join(from, file), join(dir, file));
  const commands = readFileSync(join(from, 'README.md'), 'utf8').match(/^ {4}writ .*$/gm);
  assert.equal(commands.length, 2);
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const [ran, replayed] = commands.map((command) =>
    spawnSync('sh', ['-c', command.replace('writ', `'${writ}'`)], { cwd: dir, encoding: 'utf8', env }));
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /vote, "review": "ACCEPT"\n[^]*completed: \{"decision":"ACCEPT","votes":3\}\n$/);
  assert.match(replayed.stdout, /^identical: /);
  const log = readFileSync(join(dir, 'consensus.log'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(log.filter(({ type, request }) => type === 'pool.answered' && request === 'pool.put').length, 5);
});

test('the consensus example builds from the installation and reaches a consensus', (t) => {
  if (process.env.WRIT_SANITIZED) return t.skip('a plain program cannot link sanitized libraries');
  const dir = folder();
  built('consensus', dir);
  const ran = spawnSync(join(dir, 'consensus'), { encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout,
    /round 1: REQUEST_REVISION[^]*the proposer reads: .*roll back.*rehearsal[^]*round 2: ACCEPT[^]*"finalOutput":"draft 2"[^]*\nconsensus\n$/);
});

test('every example in C is built by a test', () => {
  assert.deepEqual(inC(), ['consensus', 'ranked-pairs', 'tool-server']); // the last one by toolserver.test.mjs
});

test('pkg-config names every library that the archives need', (t) => {
  if (process.env.WRIT_SANITIZED) return t.skip('a plain program cannot link sanitized libraries');
  const dir = folder();
  const whole = spawnSync('cc', ['-o', join(dir, 'whole'), put(dir, 'whole.c', 'int main(void) { return 0; }\n'),
    '-Wl,--whole-archive', ...flags(prefixIn(dir), 'writ'), '-Wl,--no-whole-archive'], { encoding: 'utf8' });
  assert.equal(whole.status, 0, whole.stderr);
});

const EMBEDS = `
#include <stdio.h>
#include <writ/plugins.h>
static void tell(void *user, const char *text) { (void)user; puts(text); }
static struct writ_view view(const char *text) { return (struct writ_view){text, __builtin_strlen(text)}; }
int main(int argc, char **argv)
{
    struct writ_crew_engines *engines = writ_crew_engines_new();
    struct writ_crew_entry entries[5] = {{0}};
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_voting *voting = NULL;
    struct writ_plugins *plugins = NULL;
    struct writ_view value;
    int ok;

    for (int at = 0; at < 5; at++) {
        entries[at].agent_id = view("v");
        entries[at].output = view(at == 4 ? "[\\"b\\"]" : "[\\"a\\"]");
    }
    ok = argc == 2
        && writ_plugins_load(argv[1], engines, (struct writ_plugins_warn){tell, NULL}, &plugins, NULL).code == WRIT_OK
        && writ_crew_voting_read_with(
               view("{\\"mode\\":\\"other\\"}"), engines, NULL, &voting, NULL).code == WRIT_OK
        && writ_crew_vote(voting, engines, entries, 5, 5, &verdict, NULL).code == WRIT_OK;
    value = writ_crew_value_text(verdict.value);
    printf("resolved %.*s\\n", ok ? (int)value.len : 0, value.ptr);
    writ_crew_verdict_wipe(&verdict);
    writ_crew_voting_free(voting);
    writ_crew_engines_free(engines);
    writ_plugins_free(plugins);
    return !ok;
}
`;

// As a third party would: installed headers, pkg-config, a compiler.
test('a plug-in builds from the installation and votes; a broken one is skipped and named', () => {
  const dir = folder();
  const engines = join(dir, 'engines');
  mkdirSync(engines, { mode: 0o700 });
  const prefix = built('ranked-pairs', dir);
  const so = join(engines, 'ranked-pairs.so');
  renameSync(join(dir, 'ranked-pairs.so'), so);
  chmodSync(so, 0o600);

  // the circle a > b > c > a: its weakest link, c > a, is not locked in
  const ballots = put(dir, 'circle.json', [
    ...Array(4).fill(['a', 'b', 'c']), ...Array(3).fill(['b', 'c', 'a']), ...Array(2).fill(['c', 'a', 'b']),
  ].map((output, at) => ({ agentId: `v-${at}`, output })));
  const ran = run('crew', 'vote', 'ranked-pairs', ballots, '--engines', engines);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /c beats a by 1, which would be a circle\n[^]*resolved: "a"/);

  chmodSync(put(engines, 'broken.so', 'not an object'), 0o600);
  chmodSync(put(engines, 'open.so', 'x'), 0o666);
  const source2 = put(dir, 'foreign.c', '#include <writ/crew.h>\n__attribute__((visibility("default"))) const '
    + 'struct writ_crew_engine writ_crew_engine = {.abi = 99, .name = "foreign"};\n');
  const source3 = put(dir, 'other.c', '#include <writ/crew.h>\nstatic int count(const struct writ_crew_poll *poll, '
    + 'struct writ_crew_tally *tally) { (void)poll; tally->ballot(tally, 4); return 0; }\n'
    + '__attribute__((visibility("default"))) const struct writ_crew_engine writ_crew_engine = '
    + '{.abi = WRIT_CREW_ENGINE_ABI, .name = "other", .about = "the fifth", .count = count};\n');
  for (const [from, to] of [[source2, 'foreign.so'], [source3, 'other.so'],
      [join(source, 'examples/ranked-pairs/ranked_pairs.c'), 'second.so']]) {
    const made = spawnSync('cc', ['-shared', '-fPIC', '-o', join(engines, to), from, `-I${join(prefix, 'include')}`]);
    assert.equal(made.status, 0);
    chmodSync(join(engines, to), 0o600);
  }
  const skipped = run('crew', 'vote', 'majority', ballots, '--engines', engines);
  assert.equal(skipped.status, 0, skipped.stderr);
  for (const line of [/broken\.so: skipped/, /open\.so: skipped: mode 0666 gives writing to others/,
    /foreign\.so: skipped: .*ABI 99/,
    /second\.so: engine ranked-pairs is taken from this file now/]) assert.match(skipped.stderr, line);
  // each file is its own engine
  assert.doesNotMatch(skipped.stderr, /engine other is taken/);
  const other = run('crew', 'vote', 'engine:other', ballots, '--engines', engines);
  assert.match(other.stdout, /resolved: \["b","c","a"\]/, other.stderr);

  // a program that embeds the library has them in itself
  if (!process.env.WRIT_SANITIZED) {
    const embeds = join(dir, 'embeds');
    const made = spawnSync('cc', ['-o', embeds, put(dir, 'embeds.c', EMBEDS), ...flags(prefix, 'writ')],
      { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    const lines = spawnSync(embeds, [engines], { encoding: 'utf8' }).stdout;
    for (const line of [/broken\.so: skipped/, /open\.so: skipped: others can change it/,
      /foreign\.so: skipped: .*ABI 99/, /second\.so: engine ranked-pairs is taken from this file now/,
      /^resolved \["b"\]$/m])
      assert.match(lines, line);
  }

  chmodSync(engines, 0o777);
  const refused = run('crew', 'vote', 'majority', ballots, '--engines', engines);
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /engines/);
});
