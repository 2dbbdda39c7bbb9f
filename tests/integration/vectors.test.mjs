// Our own vectors are what their generator mints: they are not edited by hand.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? fileURLToPath(new URL('../..', import.meta.url));

const mint = (script, ...args) => {
  const run = spawnSync(process.execPath, [join(SOURCE, 'tests/support/mint', script), ...args], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
};

function mintedAgain(script, folders) {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-vectors-'));
  try {
    mint(script, fresh);
    for (const folder of folders) {
      const kept = readdirSync(join(SOURCE, 'vectors', folder)).filter((f) => f.endsWith('.json'));
      assert.deepEqual(readdirSync(join(fresh, folder)).sort(), kept.sort());
      for (const file of kept) {
        assert.ok(
          readFileSync(join(fresh, folder, file))
            .equals(readFileSync(join(SOURCE, 'vectors', folder, file))),
          `${folder}/${file} is not what ${script} mints`);
      }
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

for (const [script, ...folders] of [['mint-governance.mjs', 'canonical', 'digests', 'governance'],
  ['mint-foreign.mjs', 'vaara'],
  ['mint-credentials.mjs', 'credentials'], ['mint-proofs.mjs', 'proofs'], ['mint-receipts.mjs', 'receipts'],
  ['mint-bundles.mjs', 'bundles'], ['mint-ledgers.mjs', 'ledgers']]) {
  test(`vectors/${folders.join(', ')} is minted again byte for byte`, () => mintedAgain(script, folders));
}
test('vectors/crew is minted again byte for byte', () => mintedAgain('mint-crew.mjs', ['crew']));

// All scenarios of a folder come out as they must.
function pass(folder, least) {
  const run = spawnSync(`${process.env.WRIT_BIN}-vectors`, ['run', folder], { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(run.status, 0, run.stdout);
  const [, passed] = /(\d+) passed, 0 failed, 0 files of other formats\n$/.exec(run.stdout);
  assert.ok(Number(passed) >= least, run.stdout);
}

for (const [folder, least] of [['canonical', 40], ['digests', 48], ['governance', 360], ['vaara', 110],
    ['credentials', 120], ['proofs', 350], ['receipts', 54], ['bundles', 219], ['ledgers', 141]]) {
  test(`vectors/${folder} agrees with another implementation`,
    () => pass(join(SOURCE, 'vectors', folder), least));
}

test('two verifiers without shared code agree with the vectors of receipts and bundles', () => {
  const verifiers = [[process.execPath, 'verify.mjs'],
    ...(spawnSync('python3', ['-c', 'import hashlib']).status === 0 ? [['python3', 'verify.py']] : [])];
  for (const [program, script] of verifiers) {
    for (const set of ['receipts', 'bundles']) {
      const run = spawnSync(program,
        [join(SOURCE, 'tests/conformance', script), 'vectors', join(SOURCE, `vectors/${set}/${set}.json`)],
        { encoding: 'utf8' });
      assert.match(run.stdout, /^\d+ passed, 0 failed\n$/, `${script}: ${set}`);
    }
  }
});

test('two verifiers without shared code know every member of a record', async () => {
  const { isValid } = await import('../conformance/verify.mjs');
  for (const kind of ['decision', 'outcome']) {
    const file = join(SOURCE, `vectors/governance/${kind}s.json`), { cases } = JSON.parse(readFileSync(file, 'utf8'));
    const wants = cases.map(({ expect }) => expect.faults.length === 0);
    assert.deepEqual(cases.map(({ record }) => isValid(kind, record)), wants, kind);
    const script = `import sys; sys.path.insert(0, sys.argv[1]); import verify
for case in verify.parse(open(sys.argv[2]).read())["cases"]:
    try: verify.check_form(sys.argv[3], case["record"], verify.canonical(case["record"])); print(1)
    except verify.Refused: print(0)`;
    const run = spawnSync('python3', ['-c', script, join(SOURCE, 'tests/conformance'), file, kind],
      { encoding: 'utf8', env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
    if (run.error) continue; // no Python
    assert.deepEqual(run.stdout.trim().split('\n').map((said) => said === '1'), wants, run.stderr);
  }
});

test('every reason against a credential, a grant, a receipt or a bundle has its case, and every profile its digests',
    () => {
  const read = (file) => JSON.parse(readFileSync(join(SOURCE, 'vectors', file), 'utf8'));
  const page = readFileSync(join(SOURCE, 'docs/reasons.md'), 'utf8');
  const listed = (title) =>
    [...page.split(`## ${title}\n`)[1].split('\n## ')[0].matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const seen = (cases) => new Set(cases.map(({ expect }) => expect.reason ?? expect.documents?.[0].reason));
  const credentials = seen(read('credentials/credentials.json').cases);
  for (const name of listed('Verifying a credential'))
    assert.ok(credentials.has(name === 'credential_ok' ? 'ok' : name), name);
  const grants = seen(read('vaara/grants.json').cases);
  for (const name of listed('Verifying a grant of Vaara')) assert.ok(grants.has(name), name);
  // integration.timestamp has those, and integration.flowproof those of writ verify flows
  const ofFiles = listed('Verifying evidence').filter((name) => !name.startsWith('timestamp_') &&
    !['flow_mismatch', 'run_incomplete'].includes(name));
  for (const set of ['receipts', 'bundles']) {
    const reasons = seen(read(`${set}/${set}.json`).cases);
    for (const name of ofFiles) assert.ok(reasons.has(name === 'evidence_ok' ? 'ok' : name), `${set}: ${name}`);
  }
  const bindings = seen(read('governance/bindings.json').cases);
  for (const name of listed('The binding check'))
    assert.ok(bindings.has(name) || name === 'idempotency_key_reuse', name);
  assert.deepEqual(readdirSync(join(SOURCE, 'vectors/digests')).filter((f) => f.endsWith('.json')).sort(),
    ['algovoi-v1.json', 'crewai-v1.json', 'vaara-v0.json']);
});

test('the vectors have a fault for every member, a record for every route and a run for every flaw of a seal', () => {
  const cases = (file) => JSON.parse(readFileSync(join(SOURCE, 'vectors/governance', file), 'utf8')).cases;
  const members = readFileSync(join(SOURCE, 'core/evidence/record/member.tbl.h'), 'utf8');
  for (const [macro, file, choice,
    choices] of [['DECISION', 'decisions.json', 'decision', ['allow', 'deny', 'require_approval', 'revise']],
    ['OUTCOME', 'outcomes.json', 'outcome', ['executed', 'blocked', 'error', 'timeout']]]) {
    const faults = new Set(cases(file).flatMap(({ expect }) => expect.faults));
    const [, rows] = new RegExp(`define WRIT_${macro}_MEMBERS\\(X\\)([^]*?)\n\n`).exec(members);
    const names = [...rows.matchAll(/X\((\w+), /g)].map(([, name]) => name);
    assert.ok(names.length > 10);
    for (const name of names) assert.ok(faults.has(`/${name}`), `${file}: ${name}`);
    for (const word of choices)
      assert.ok(cases(file).some(({ record, expect }) => record[choice] === word && expect.faults.length === 0),
        `${file}: ${word}`);
  }
  const [, names] =
    /"sound", ("\w+"(?:, "\w+")*)\. Static/.exec(readFileSync(join(SOURCE, 'core/evidence/proof/completeness.h'),
      'utf8'));
  const flaws = new Set(cases('completeness.json').map(({ expect }) => expect.seal));
  for (const name of JSON.parse(`[${names}]`)) assert.ok(flaws.has(name), name);
});

test('vectors run names a differing case and its place, skips other formats, and fails without a case', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-vectors-'));
  const run = (...args) => spawnSync(`${process.env.WRIT_BIN}-vectors`, ['run', ...args], { encoding: 'utf8' });
  try {
    const set = JSON.parse(readFileSync(join(SOURCE, 'vectors/vaara/receipts.json'), 'utf8'));
    set.cases[1].expect.documents[0].holds = false;
    writeFileSync(join(folder, 'set.json'), JSON.stringify(set));
    writeFileSync(join(folder, 'other.json'), '{"format":"another/1"}');
    writeFileSync(join(folder, 'none.json'), 'no JSON at all');
    const text = run(folder);
    assert.equal(text.status, 1);
    assert.ok(text.stdout.includes(`set.json: ${set.cases[1].id}:\n~ /documents/0/holds false -> true\n`), text.stdout);
    assert.match(text.stdout, /22 passed, 1 failed, 2 files of other formats\n$/);
    const json = JSON.parse(run(folder, '--json').stdout);
    assert.deepEqual([json.passed, json.skipped, json.failures.map(({ id }) => id)], [22, 2, [set.cases[1].id]]);
    assert.equal(run(join(folder, 'other.json')).status, 1, 'a file that is named has to be a set');
    rmSync(join(folder, 'set.json'));
    assert.equal(run(folder).status, 1, 'nothing was run');
    assert.equal(run(join(folder, 'absent')).status, 3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the crew library gives the model\'s log for every scenario', () => pass(join(SOURCE, 'vectors/crew'), 50));

test('the crew library gives the model\'s log on random walks', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-walks-'));
  try {
    mint('mint-crew.mjs', fresh, 'walks', '101', '150');
    pass(join(fresh, 'crew'), 50);
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

test('resuming after every step gives the same log, on random walks', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'writ-walks-'));
  try {
    mint('mint-crew.mjs', fresh, 'resumed', '201', '230');
    pass(join(fresh, 'crew'), 60);
    for (let seed = 201; seed <= 230; seed++) {
      const [straight, resumed] = ['straight',
        'resumed'].map((how) => JSON.parse(readFileSync(join(fresh, 'crew', `walk-${seed}-${how}.json`), 'utf8')));
      const again = resumed.steps.flatMap(({ op }, at) =>
        (op === 'resume' ? [] : resumed.expect.steps[at].events ?? []));
      assert.deepEqual(again, straight.expect.log, `seed ${seed}`);
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

// The model is not a copy of the library: it was compared with the behaviour of the public library.
test('the model gives the golden scenarios except the deviations', async () => {
  const { canonical, expectation } = await import('../support/js/crew-model.mjs');
  const folder = join(SOURCE, 'vectors/crew-golden');
  const differ = readdirSync(folder).filter((file) => file.endsWith('.json')).filter((file) => {
    const scenario = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    return canonical(expectation(scenario)) !== canonical(scenario.expect);
  });
  assert.deepEqual(differ, ['fixer-nested-quirk-1.json', 'fixer-nested-twice-1.json', 'nested-missing-registry-1.json',
    'timeout-nested-quirk-1.json']);
});
