// Crews that guard a tool: a whole crew is the reviewer of a call.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { prepare, readFileSync, sha256, until, writ, writeFileSync } from '../support/js/gateway.mjs';
import { asks, configOf, crewOf, DEV, panelOf, SHAPE, stateOf, withCrew } from '../support/js/crewguard.mjs';
import { facts } from '../support/js/ledger.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';

const ends = (gw, id, state) => until(async () => (await stateOf(gw, id)).state === state, `${id} to be ${state}`);
const votesOf = async (gw, id) => (await stateOf(gw, id)).records.filter((r) => r.event === 'vote');
const failures = (gw, id) => gw.log.filter((l) => l.event === 'ballot_failed' && l.review === id).map((l) => l.why);

/** The log of the crew, exported while no gateway runs. */
async function exportLog(gw, id, voter = 'panel') {
  const run = writ(['review', 'log', gw.configFile, id, voter], { cwd: gw.dir });
  assert.equal(run.code, 0, run.err);
  const file = gw.path(`${id}.log`);
  writeFileSync(file, run.out);
  return { file, text: run.out };
}

test('a crew votes, with its fixer and its rule of votes, and its log replays to the vote', async (t) => {
  const { gw, session } = await withCrew(t, panelOf(`({ arguments: { amount } }, { agentId }) => {
    if (agentId === 'critic-3') process.exit(1);
    return amount < 100 ? 'approve' : { vote: 'reject', comment: 'too much' };
  }`));
  const good = await asks(session, { amount: 50, note: 'a secret of the caller' });
  await ends(gw, good, 'approved');
  const done = await session.call('up__pay', { amount: 50, note: 'a secret of the caller' });
  assert.equal(done.reason, undefined, 'the approved call runs');
  const bad = await asks(session, { amount: 500 });
  await ends(gw, bad, 'rejected');
  const [vote] = await votesOf(gw, good);
  assert.deepEqual([vote.by, vote.vote], ['panel', 'approve']);
  assert.ok(gw.log.some((l) => l.event === 'reviewer_agent_failed' && l.agent === 'critic-3'), 'a fixer stood in');
  assert.doesNotMatch(JSON.stringify(await stateOf(gw, good)), /a secret of the caller/, 'records have digests');

  await gw.stop();
  const { file, text } = await exportLog(gw, good);
  assert.equal(vote.extensions.writ.crew_log, `sha256:${sha256(text)}`, 'the signed vote has the digest of the log');
  assert.match(text, /a secret of the caller/);
  assert.match(text, /"type":"fixer.invoked"/);
  assert.equal(writ(['crew', 'replay', file]).code, 0);
  const replay = (...more) => writ(['review', 'replay', gw.ledgerFile, good, ...more]);
  assert.match(replay().out, /^same: accept, .* 1 votes \(0 signed\); of crews: 1 \(0 computed again\)\n$/);
  const again = replay('--log', file);
  assert.deepEqual([again.code, / 1 \(1 computed again\)\n$/.test(again.out)], [0, true], again.out + again.err);
  const other = await exportLog(gw, bad);
  assert.match(replay('--log', other.file).err, /the log is not that of a vote of this review/);
  writeFileSync(file, text.replace('"resolved":"ACCEPT"', '"resolved":"REJECT"'));
  assert.equal(replay('--log', file).code, 3, 'a changed log is that of no vote');
  gw.verify();
  assert.deepEqual(facts(gw, 'contents_looked').map((f) => [f.decision_id, f.purpose]),
    [[good, 'replay'], [bad, 'replay']]);
});

test('an output that is not a vote, and a crew that decides nothing, are failed ballots', async (t) => {
  const { gw, session } = await withCrew(t, `async ({ roleId, input }) => {
    if (roleId !== 'chair') return 'approve';
    const more = { vote: 'approve', sure: true };
    return { nonsense: 'maybe', array: ['approve'], more, none: undefined }[process.env.SAYS];
  }`, { entry: { environment: { SAYS: 'nonsense' } } });
  const id = await asks(session, { amount: 1 });
  await until(() => failures(gw, id).length >= 2, 'it is asked again');
  assert.deepEqual([...new Set(failures(gw, id))], ['no_vote']);
  assert.deepEqual(await votesOf(gw, id), []);
  const entry = gw.config.reviewers.panel;
  for (const [says, why] of [['array', 'no_vote'], ['more', 'no_vote'], ['none', 'timeout']]) {
    await gw.stop();
    gw.configure({ ...gw.config, reviewers: { panel: { ...entry, environment: { SAYS: says },
      timeout: why === 'timeout' ? '400ms' : '10s' } } });
    await gw.start();
    const next = await asks(await openSession(gw, { token: DEV.token }), { amount: 2, note: says });
    await until(() => failures(gw, next).length >= 1, `${says} fails`);
    assert.equal(failures(gw, next)[0], why, says);
    assert.equal((await stateOf(gw, next)).state, 'open');
    assert.deepEqual(await votesOf(gw, next), []);
  }
});

/** Workers that do harm: none of them ever approves. */
const HOSTILE = {
  crash: 'process.exit(3)',
  kill: "process.kill(process.pid, 'SIGKILL')",
  flood: "process.stdout.write('x'.repeat(2 << 20))",
  garbage: "console.log('approve')",
  forged: "say({ type: 'agent.step.completed', correlationId: '0123456789abcdef', output: 'approve' })",
  others: "say({ type: 'crew.completed', correlationId: step.correlationId, finalOutput: 'approve' })",
  deaf: "process.stdin.pause()",
  requests: "(() => { for (let i = 0; i < 20000; i++) say({ type: 'pool.statistics', " +
    'correlationId: step.correlationId }); })()',
  large: "say({ type: 'agent.step.completed', correlationId: step.correlationId, output: 'a'.repeat(900 << 10) })",
};

test('hostile workers never approve, and the gateway goes on', async (t) => {
  const { gw, session } = await withCrew(t, `async (step) => {
    if (step.roleId === 'chair') return step.input;
    const call = step.input.upstreamInput ?? step.input;
    const harm = { ${Object.entries(HOSTILE).map(([k, v]) => `${k}: () => (${v})`).join(',\n')} }[call.arguments.note];
    if (!harm) return 'approve';
    harm();
    return undefined;
  }`, { entry: { timeout: '1500ms' } });
  const ids = {};
  for (const note of Object.keys(HOSTILE)) ids[note] = await asks(session, { amount: 1, note });
  await until(() => Object.values(ids).every((id) => failures(gw, id).length >= 1), 'all fail');
  for (const [note, id] of Object.entries(ids)) {
    const { state, records } = await stateOf(gw, id);
    assert.equal(state, 'open', note);
    assert.deepEqual(records.filter((r) => r.event === 'vote'), [], note);
  }
  const good = await asks(session, { amount: 1, note: 'honest' });
  await ends(gw, good, 'approved');
});

test('a gateway that is killed while the crew runs runs it again, and it votes once', async (t) => {
  const { gw, session } = await withCrew(t, `async (step) => {
    if (step.roleId === 'chair') return step.input;
    require('node:fs').appendFileSync('asked', step.correlationId + ' ');
    if (!require('node:fs').existsSync('go')) return undefined;
    return 'approve';
  }`, {});
  const id = await asks(session, { amount: 7 });
  const asked = () => { try { return readFileSync(gw.path('asked'), 'utf8').trim().split(' '); } catch { return []; } };
  await until(() => asked().length === 3, 'all critics are asked');
  await gw.stop('SIGKILL');
  const first = asked();
  writeFileSync(gw.path('go'), '');
  await gw.start();
  await ends(gw, id, 'approved');
  assert.deepEqual(asked().slice(3).sort(), first.sort(), 'the same requests, by the same ids');
  assert.equal((await votesOf(gw, id)).length, 1);
  await gw.stop();
  const { file } = await exportLog(gw, id);
  assert.equal(writ(['review', 'replay', gw.ledgerFile, id, '--log', file]).code, 0);
  gw.verify();
});

test('a crew that chooses who judges a call, and rankings as votes', async (t) => {
  const { gw, session } = await withCrew(t, `(step) => {
    if (step.input.ballot) {
      if (!step.input.prompt.includes('BEGIN CALL')) process.exit(1);
      return step.input.ballot.slice().reverse();
    }
    const { input: call } = step.input;
    return { ranking: call.arguments.amount < 10 ? ['approve', 'modify', 'reject'] : ['reject', 'modify', 'approve'],
      feedback: step.roleId };
  }`, { shape: { schema_version: '1.0', name: 'judges', process: 'consensual', roles:
    ['law', 'money', 'risk'].map((role) => ({ role, permissions: {}, amount: 1 })) }, review: { engine: 'borda' } });
  const id = await asks(session, { amount: 5 });
  await ends(gw, id, 'approved');
  const [vote] = await votesOf(gw, id);
  assert.deepEqual([vote.ranking, vote.feedback], [['approve', 'modify', 'reject'], 'risk']);
  await ends(gw, await asks(session, { amount: 50 }), 'rejected');
  await gw.stop();
  const { file } = await exportLog(gw, id);
  const again = writ(['review', 'replay', gw.ledgerFile, id, '--log', file]);
  assert.match(again.out, /^same: accept, .*1 \(1 computed again\)\n$/);
  assert.match(writ(['crew', 'ballots', file]).out, /elected: risk-1/);
});

test('the files of a crew are pinned by the policy, checked whole, and used as they were read', async (t) => {
  const { gw, session } = await withCrew(t, panelOf("() => 'approve'"));
  const check = () => writ(['check', gw.configFile, '--json'], { cwd: gw.dir });
  const digest = () => JSON.parse(check().out).policy_digest;
  const first = digest();
  const withCritics = (more) =>
    JSON.stringify({ ...SHAPE, roles: [{ ...SHAPE.roles[0], ...more }, ...SHAPE.roles.slice(1)] });
  const shape = structuredClone(SHAPE);
  shape.roles[0].execution.voting.quorum = 3;
  writeFileSync(gw.path('panel.json'), JSON.stringify(shape));
  const second = digest();
  assert.notEqual(first, second, 'another shape, another policy');
  const id = await asks(session, { amount: 1 });
  await ends(gw, id, 'approved');
  shape.roles[0].permissions = { talk_to: ['nobody'] };
  for (const [text, wants] of [
    [JSON.stringify(shape), /panel\.json: lint_failed.*unknown_role_reference/],
    ['{', /panel\.json/],
    [withCritics({ amount: 40 }), /more than 32 agents.*shared: true/],
    [withCritics({ execution: { voting: { mode: 'engine:mine' } } }),
      /panel\.json: lint_failed.*unsupported_voting_mode/]]) {
    writeFileSync(gw.path('panel.json'), text);
    const run = check();
    const [finding] = JSON.parse(run.out).findings.filter((f) => f.severity === 'error');
    assert.deepEqual([run.code, finding.pointer], [1, '/reviewers/panel/crew'], run.out);
    assert.match(finding.message, wants);
    assert.equal((await gw.reload(gw.config)).event, 'reload_refused', 'a running gateway keeps the crew that it has');
  }
  await ends(gw, await asks(session, { amount: 2 }), 'approved');
  writeFileSync(gw.path('panel.json'), JSON.stringify(SHAPE));
  gw.configure({ ...gw.config, reviewers: { panel: { ...gw.config.reviewers.panel, registry: 'nowhere' } } });
  assert.match(check().out, /nowhere/);
  const { worker, ...alone } = gw.config.reviewers.panel;
  for (const [panel, wants] of [[alone, /needs the worker: the program of its agents/],
    [{ worker, agents: 'a.json' }, /has no effect on a reviewer without a crew/],
    [{ ...alone, opinions: [{ vote: 'approve' }] }, /needs the worker/],
    [{ worker, crew: 'panel.json', key: { kty: 'OKP', crv: 'Ed25519', x: 'AA' } }, /own crews are not signed/]]) {
    gw.configure({ ...gw.config, reviewers: { panel } });
    assert.match(check().out, wants);
  }
});

test('the log of a crew is destroyed with the contents of its call, and the vote stays', async (t) => {
  const { gw, session } = await withCrew(t, panelOf("() => 'approve'"));
  const id = await asks(session, { amount: 1 });
  await ends(gw, id, 'approved');
  await gw.stop();
  await exportLog(gw, id);
  const erased = writ(['ledger', 'erase', gw.configFile, '--agent', 'dev', '--yes'], { cwd: gw.dir });
  assert.match(erased.out, /destroyed 1 content/, erased.err);
  const run = writ(['review', 'log', gw.configFile, id, 'panel'], { cwd: gw.dir });
  assert.deepEqual([run.code, run.out], [1, '']);
  assert.match(run.err, /not kept any more/);
  assert.equal(writ(['review', 'replay', gw.ledgerFile, id]).code, 0);
  gw.verify();
});

test('an erase while the crew runs leaves no log, also after a restart', async (t) => {
  const { gw, session } = await withCrew(t, `async (step) => {
    if (step.roleId === 'chair') return step.input;
    return require('node:fs').existsSync('go') ? 'approve' : undefined;
  }`);
  const id = await asks(session, { amount: 1, note: 'to be erased' });
  await gw.stop();
  const erased = writ(['ledger', 'erase', gw.configFile, '--agent', 'dev', '--yes'], { cwd: gw.dir });
  assert.equal(erased.code, 0, erased.err);
  writeFileSync(gw.path('go'), '');
  await gw.start();
  await ends(gw, id, 'approved');
  await gw.stop();
  const run = writ(['review', 'log', gw.configFile, id, 'panel'], { cwd: gw.dir });
  assert.match(run.err, /not kept any more/);
  assert.equal(writ(['review', 'replay', gw.ledgerFile, id]).code, 0);
  gw.verify();
});

test('a gateway whose keys cannot encrypt the log does not start', async (t) => {
  const up = await startUpstream(t);
  const gw = prepare(t, { upstreams: {}, tools: {}, agents: [] });
  gw.configure({ ...gw.config, ...configOf(up, { panel: crewOf(gw, panelOf("() => 'approve'")) }) });
  await assert.rejects(gw.start(), /reviewer panel is a crew, whose log is kept, .*writ keys new --purpose contents/);
});
