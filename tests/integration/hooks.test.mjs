// The hook API: frameworks that make their tool calls themselves, honest and hostile.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { SOURCE, bearer, sha256, startGateway, until, writ } from '../support/js/gateway.mjs';
import { ANN, CREW, DOCUMENT, FOREIGN, MATE, ask, config, framework, rule, setUp } from '../support/js/hooks.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { holdLedger, textOfLedger } from '../support/js/store.mjs';

const args = (n = 1) => ({ arguments: { path: `/tmp/${n}`, text: 'hello' } });

test('before, bind, after and seal leave the records of a governed call', async (t) => {
  const { gw, crew } = await setUp(t);
  const said = await crew.before({ ...args(), boundary_id: 'run-1', request_id: 'r7', agent_id: 'crew' });
  assert.equal(said.verdict, 'allow');
  assert.equal(said.reason, 'policy_ok');
  const { decision } = said;
  assert.deepEqual([decision.agent_id, decision.agent_role, decision.tool, decision.target, decision.normalized_scope,
    decision.boundary_id, decision.seq],
    ['crew', 'worker', 'write', 'file:%2Ftmp%2F1', 'files/%2Ftmp%2F1', 'run-1', 0]);
  assert.equal(decision.request_id, '"r7"');
  assert.equal(decision.extensions.writ.upstream, 'crew');
  assert.equal(decision.extensions.writ.tenant, 'acme');

  const verdict = await crew.bind(decision, args());
  assert.equal(verdict.verdict, 'allow');
  assert.equal(verdict.reason, 'contract_binding_ok');
  assert.equal(verdict.intent_ref, decision.intent_ref);
  assert.ok(Date.parse(verdict.outcome_due) > Date.now());

  const hash = `sha256:${sha256('{"ok":true}')}`;
  const done = await crew.after(decision, { tool_output_hash: hash, x_own: { kept: [1] } });
  assert.equal(done.status, 200);
  assert.equal(done.json.outcome.outcome, 'executed');
  assert.equal(done.json.outcome.tool_output_hash, hash);
  assert.deepEqual(done.json.outcome.x_own, { kept: [1] }, 'unknown members pass through');
  const seal = await crew.seal('run-1');
  assert.deepEqual([seal.json.sealed, seal.json.total, seal.json.seal_hash],
    [true, 1, `sha256:${sha256(decision.decision_id)}`]);
  assert.deepEqual((await crew.seal('run-1')).json, seal.json, 'sealed once, told again');
  assert.equal((await crew.before({ ...args(2), boundary_id: 'run-1' })).reason, 'boundary_sealed');

  const shown = gw.show(decision.decision_id);
  assert.deepEqual(shown.decision, decision, 'what was told is what was recorded');
  assert.deepEqual(shown.outcome, done.json.outcome);
  const run = gw.boundary('run-1', 'acme');
  assert.ok(run.whole);
  assert.deepEqual(run.seal, seal.json);
  gw.verify();
});

test('a call stopped after its allow is not bound: by agent, by policy, by credential',
    async (t) => {
  const root = bearer('root');
  const { gw, crew } = await setUp(t, { top: { administrators: ['root'], agents: [CREW.entry, root.entry] } });
  const post = async (path, body) => {
    const answer = await fetch(`http://127.0.0.1:${gw.adminPort}${path}`, { method: 'POST', body: JSON.stringify(body),
      headers: { authorization: `Bearer ${root.token}`, 'content-type': 'application/json' } });
    assert.equal(answer.status, 200, await answer.clone().text());
    return answer.json();
  };
  const pull = (by, value) => post('/v1/kills', { by, value, reason: 'test' });
  const [one, two, three] = [await crew.before(args(1)), await crew.before(args(2)), await crew.before(args(3))];
  for (const [by, value] of [['agent', 'crew'], ['policy', one.decision.policy_digest], ['tool', 'crew/write']]) {
    const { id } = await pull(by, value);
    const refused = await crew.bind(one.decision, args(1));
    assert.deepEqual([refused.verdict, refused.reason], ['deny', 'killed'], by);
    await post(`/v1/kills/${id}/lift`, {});
  }
  assert.equal((await crew.bind(one.decision, args(1))).verdict, 'allow', 'nothing was spent');
  await pull('credential', two.decision.decision_id);
  assert.equal((await crew.bind(two.decision, args(2))).reason, 'killed');
  assert.equal((await crew.bind(three.decision, args(3))).verdict, 'allow');
  assert.equal((await crew.before(args(4))).verdict, 'allow');
});

test('the credential of an allow is for this call, at the configured resource', async (t) => {
  const { gw, crew } = await setUp(t);
  const { credential, decision } = await crew.before(args());
  const jwks = await (await fetch(`${gw.origin}/.well-known/jwks.json`)).text();
  const { writeFileSync } = await import('node:fs');
  writeFileSync(gw.path('jwks.json'), jwks);
  writeFileSync(gw.path('token'), credential);
  const call = { tool: 'write', aud: 'urn:crew', agent_id: 'crew', tenant: 'acme', ...args() };
  writeFileSync(gw.path('call.json'), JSON.stringify(call));
  assert.equal(writ(['verify', 'credential', '--jwks', gw.path('jwks.json'), '--call', gw.path('call.json'), '--token',
    gw.path('token')]).out, 'ok\n');
  writeFileSync(gw.path('call.json'), JSON.stringify({ ...call, arguments: {} }));
  assert.equal(writ(['verify', 'credential', '--jwks', gw.path('jwks.json'), '--call', gw.path('call.json'), '--token',
    gw.path('token')]).out, 'args_mismatch\n');
  assert.equal(JSON.parse(Buffer.from(credential.split('.')[1], 'base64url')).jti, decision.decision_id);
});

test('a call that policy refuses is recorded and cannot be bound', async (t) => {
  const { gw, crew } = await setUp(t, {
    rule: { arguments: [{ arg: 'path', op: 'under', value: '/tmp' },
      { arg: 'text', op: 'max_length', value: 5, optional: true }] },
    tools: { 'crew/secret': rule({ agents: ['mate'] }) },
  });
  const refused = await crew.before({ arguments: { path: '/etc/passwd' } });
  assert.equal(refused.verdict, 'deny');
  assert.equal(refused.reason, 'constraint_failed');
  assert.equal(refused.constraint, 'path under');
  assert.equal(refused.credential, undefined);
  assert.equal(gw.show(refused.decision.decision_id).outcome.outcome, 'blocked');
  assert.equal((await crew.bind(refused.decision, { arguments: { path: '/etc/passwd' } })).reason,
    'decision_not_allow');
  assert.equal((await crew.after(refused.decision, { intent_ref: refused.decision.intent_ref })).json.reason,
    'duplicate_outcome', 'it has its outcome');
  assert.equal((await crew.before({ tool: 'crew/other' })).reason, 'tool_not_listed');
  assert.equal((await crew.before({ tool: 'nobody/other' })).reason, 'tool_not_listed');
  assert.equal((await crew.before({ tool: 'crew/secret' })).reason, 'agent_not_permitted');
  assert.equal((await crew.before({ arguments: [1] })).reason, 'arguments_not_an_object');
  gw.verify();
});

test('each row of the binding table refuses with its reason and spends no authorization', async (t) => {
  const { gw, crew } = await setUp(t, { top: { credential: { lifetime: '8s' } }, tools: { 'crew/read': rule() } });
  const denied = (await crew.before({ tool: 'crew/none' })).decision;
  const key = { idempotency_key: 'k1', target_state_digest: `sha256:${'0'.repeat(64)}` };
  const { decision } = await crew.before({ ...args(), ...key });
  const same = { ...args(), target_state_digest: key.target_state_digest };
  const mate = framework(gw, MATE);
  const bind = async (body, authorization = decision) => (await crew.bind(authorization, { ...same, ...body })).reason;

  assert.equal(await bind({}, denied), 'decision_not_allow'); // 1
  assert.equal(await bind({ agent_id: 'mate' }), 'agent_id_mismatch'); // 3
  assert.equal((await mate.bind(decision, same)).reason, 'agent_id_mismatch');
  assert.equal(await bind({ tool: 'crew/read' }), 'tool_mismatch');
  assert.equal(await bind({ tool: 'other/write' }), 'tool_mismatch');
  assert.equal(await bind({ target: 'file:/etc' }), 'target_mismatch');
  assert.equal(await bind({ normalized_scope: 'files/etc' }), 'normalized_scope_mismatch');
  assert.equal(await bind({ arguments: { path: '/tmp/2', text: 'hello' }, target: 'file:%2Ftmp%2F1',
    normalized_scope: 'files/%2Ftmp%2F1' }), 'target_mismatch', 'a target is not what is said of it');
  assert.equal(await bind({ arguments: { path: '/tmp/1', text: 'bye' } }), 'exact_intent_mismatch'); // 4
  assert.equal(await bind({ arguments: undefined, target: 'file:%2Ftmp%2F1' }), 'target_mismatch');
  assert.equal(await bind({ continuation_id: 'c' }), 'continuation_mismatch'); // 5
  assert.equal(await bind({ idempotency_key: 'k2' }), 'idempotency_key_mismatch'); // 6
  const allow = await crew.bind(decision, { ...same, agent_id: 'crew', idempotency_key: 'k1', target: 'file:%2Ftmp%2F1',
    normalized_scope: 'files/%2Ftmp%2F1' });
  assert.equal(allow.verdict, 'allow'); // 9
  assert.equal(await bind({}), 'duplicate_outcome'); // 8: bound
  await crew.after(decision);
  assert.equal(await bind({}), 'duplicate_outcome'); // 8: over

  const drifting = await crew.before({ ...args(3), ...key, idempotency_key: 'k3' });
  const now = { target_state_digest: `sha256:${'1'.repeat(64)}` };
  const drift = await crew.bind(drifting.decision, { ...args(3), ...now });
  assert.deepEqual([drift.verdict, drift.reason], ['revalidate', 'target_state_drift']); // 7
  assert.equal(gw.show(drifting.decision.decision_id).outcome.outcome, 'blocked', 'it is good for nothing any more');
  const ended = await crew.bind(drifting.decision, { ...args(3), ...now });
  assert.deepEqual([ended.verdict, ended.reason], ['revalidate', 'target_state_drift'], 'it was never made');
  const again = await crew.before({ ...args(3), ...now, idempotency_key: 'k3' });
  assert.equal(again.verdict, 'allow', 'and another one decides about the state as it is');
  assert.equal((await crew.bind(again.decision, { ...args(3), ...now })).verdict, 'allow');

  const late = await crew.before(args(4));
  await until(() => Date.now() > Date.parse(late.decision.expires_at), 'the end of an authorization');
  assert.equal(await bind({ ...args(4), target_state_digest: undefined }, late.decision), 'expired'); // 2
  gw.verify();
});

test('a forged, unknown or foreign authorization binds nothing', async (t) => {
  const { gw, crew } = await setUp(t);
  const { decision } = await crew.before(args());
  const denied = (await crew.before({ tool: 'crew/none', ...args() })).decision;
  const bind = async (authorization, who = CREW) => (await framework(gw, who).bind(authorization, args())).reason;

  assert.equal(await bind({ ...denied, decision: 'allow' }), 'authorization_altered');
  assert.equal(await bind({ ...decision, expires_at: '2099-01-01T00:00:00Z' }), 'authorization_altered');
  assert.equal(await bind({ ...decision, agent_id: 'mate' }), 'authorization_altered');
  assert.equal(await bind({ ...decision, made_up: 1 }), 'authorization_altered');
  assert.equal(await bind({ ...decision,
    decision_id: decision.decision_id.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }), 'authorization_unknown');
  assert.equal(await bind({ decision_id: 'x'.repeat(5000) }), 'authorization_unknown');
  assert.equal(await bind(decision, FOREIGN), 'authorization_unknown', 'another tenant does not learn that it exists');
  assert.equal((await crew.bind(decision, { arguments: { path: JSON.rawJSON('9007199254740993') } })).reason,
    'number_not_exact');
  assert.equal((await crew.bind({ decision_id: decision.decision_id }, args())).verdict, 'allow',
    'its name alone will do');
  gw.verify();
});

test('concurrent before requests for one call give one authorization', async (t) => {
  const { gw, crew } = await setUp(t, { top: { loops: 3 } });
  const all = await Promise.all(Array.from({ length: 12 }, () => crew.before({ ...args(), boundary_id: 'run' })));
  const allowed = all.filter((a) => a.verdict === 'allow');
  assert.ok(allowed.length > 0);
  assert.equal(new Set(allowed.map((a) => a.decision_id)).size, 1);
  assert.ok(all.every((a) => a.verdict === 'allow' || a.reason === 'duplicate_in_flight'));
  const other = framework(gw, MATE);
  const [decision] = allowed.map((a) => a.decision);
  assert.notEqual((await other.before({ ...args(), boundary_id: 'run' })).decision_id, decision.decision_id,
    'it belongs to one tenant');
  assert.equal((await crew.bind(decision, args())).verdict, 'allow');
  assert.equal((await crew.before({ ...args(), boundary_id: 'run' })).reason, 'duplicate_in_flight');
  gw.verify();
});

test('of concurrent binds over several loops, one succeeds', async (t) => {
  const { gw, crew } = await setUp(t, { top: { loops: 3 } });
  for (let round = 0; round < 5; round++) {
    const { decision } = await crew.before(args(round));
    const all = await Promise.all(Array.from({ length: 16 }, () => crew.bind(decision, args(round))));
    assert.equal(all.filter((a) => a.verdict === 'allow').length, 1);
    assert.ok(all.every((a) => a.verdict === 'allow' || a.reason === 'duplicate_outcome'));
    const ends = await Promise.all(Array.from({ length: 8 }, () => crew.after(decision)));
    assert.equal(ends.filter((a) => a.status === 200).length, 1);
    assert.ok(ends.every((a) => a.status === 200 || a.json.reason === 'duplicate_outcome'));
  }
  gw.verify();
});

test('an outcome is accepted once, for a bound call, from its agent', async (t) => {
  const { gw, crew } = await setUp(t);
  const { decision } = await crew.before(args());
  const other = (await crew.before(args(2))).decision;
  const after = async (body, who = CREW) => {
    const { status, json } = await framework(gw, who).after(decision, body);
    return `${status} ${json.reason}`;
  };
  assert.equal(await after({}), '409 call_not_bound');
  assert.equal(await after({ outcome: 'error', error_type: 'boom' }), '409 call_not_bound');
  await crew.bind(decision, args());
  assert.equal(await after({ intent_ref: other.intent_ref }), '409 outcome_mismatch');
  assert.equal(await after({ decision_id: other.decision_id }), '409 outcome_mismatch', 'the intent of another call');
  assert.equal(await after({ intent_ref: null }), '409 outcome_mismatch');
  assert.equal(await after({ idempotency_key: 'another' }), '409 outcome_mismatch');
  assert.equal(await after({ boundary_id: 'another' }), '409 outcome_mismatch');
  assert.equal(await after({ seq: 99 }), '409 outcome_mismatch');
  assert.equal(await after({ decision_id: 'nobody' }), '404 authorization_unknown');
  assert.equal(await after({}, MATE), '404 authorization_unknown', 'of another agent');
  assert.equal(await after({}, FOREIGN), '404 authorization_unknown', 'of another tenant');
  for (const bad of [{ outcome: 'done' }, { outcome: undefined }, { outcome: 'error' }, { tool_output_hash: 'md5:1' },
      { extensions: { writ: {} } }, { extensions: 7 }]) {
    assert.equal(await after(bad), '422 outcome_malformed', JSON.stringify(bad));
  }
  assert.equal(await after({ result: { a: 1 }, tool_output_hash: `sha256:${'0'.repeat(64)}` }), '409 outcome_mismatch',
    'another result than the reported one');
  const done = await crew.after(decision, { outcome: 'error', error_type: 'boom', error_message: 'it broke',
    completed_at: '1999-01-01T00:00:00Z', extensions: { mine: 1 } });
  assert.equal(done.status, 200);
  assert.deepEqual([done.json.outcome.error_type, done.json.outcome.error_message, done.json.outcome.extensions],
    ['boom', 'it broke', { mine: 1 }]);
  assert.ok(Date.parse(done.json.outcome.completed_at) > Date.parse(decision.issued_at), 'the time is the ledger’s');
  assert.equal(await after({}), '409 duplicate_outcome');
  assert.equal((await crew.before(args())).reason, 'duplicate_outcome');
  gw.verify();
});

test('the ledger sets place, time and receipt of an outcome, whatever the request says', async (t) => {
  const { gw, crew } = await setUp(t);
  const said = [true, 7, {}, ['x'], null, 'x', 'sha256:0'];
  for (const [i, value] of said.entries()) {
    const { decision } = await crew.before(args(i));
    await crew.bind(decision, args(i));
    const { status, json } = await crew.after(decision, { completed_at: value, receipt_ref: value, mine: value });
    assert.equal(status, 200);
    assert.ok(Date.parse(json.outcome.completed_at) >= Date.parse(decision.issued_at));
    assert.match(json.outcome.receipt_ref, /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual(json.outcome.mine, value, 'unknown members are kept');
  }
  assert.equal(gw.verify().outcomes, said.length);
});

test('an outcome that the ledger could not read back is refused, and may be sent again', async (t) => {
  const nested = (n) => JSON.parse(`${'['.repeat(n)}1${']'.repeat(n)}`);
  // limits of requests may be greater than those of records
  const { gw, crew } = await setUp(t, { top: { limits: { json_depth: 200, json_values: 1000000 } } });
  const { decision } = await crew.before(args());
  await crew.bind(decision, args());
  for (const bad of [{ mine: Array(65520).fill(1) }, { mine: Array(100000).fill(1) }, { mine: nested(64) },
    { extensions: { mine: nested(63) } },
    { mine: 'x'.repeat(1 << 20) }]) {
    const { status, json } = await crew.after(decision, bad);
    assert.deepEqual([status, json.reason], [422, 'outcome_malformed'], JSON.stringify(bad).slice(0, 60));
  }
  const told = await crew.after(decision,
    { mine: nested(63), extensions: { mine: Array(61000).fill(1) }, result: nested(100) });
  assert.equal(told.status, 200);
  gw.verify();
});

test('a call reported as not made frees its key; an unreported one keeps it', async (t) => {
  const { gw, crew } = await setUp(t, { framework: { timeout: '8s' }, top: { credential: { lifetime: '8s' } } });
  const first = await crew.before(args());
  const second = await crew.before(args());
  assert.deepEqual([second.verdict, second.decision], ['allow', first.decision],
    'a lost answer is repeated');
  const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
  assert.deepEqual(claims(second.credential), claims(first.credential), 'with the same jti');
  assert.equal((await crew.after(first.decision, { outcome: 'blocked' })).status, 200);
  assert.equal((await crew.bind(first.decision, args())).reason, 'duplicate_outcome', 'it was given up');
  const third = await crew.before(args());
  assert.equal(third.verdict, 'allow');
  await crew.bind(third.decision, args());
  assert.equal((await crew.before(args())).first_waits_for, 'outcome');
  const lost = await crew.before(args(2));
  const outcome = (decision) => until(() => gw.show(decision.decision_id).outcome, 'an outcome');
  assert.equal((await outcome(third.decision)).error_type, 'interrupted_execution_unknown');
  assert.equal((await outcome(lost.decision)).error_type, 'authorization_unused');
  const expired = await until(() => {
    const lines = gw.log.filter((l) => l.event === 'wait_expired');
    return lines.length === 2 && Object.fromEntries(lines.map((l) => [l.decision_id, l.error_type]));
  }, 'a line of each');
  assert.deepEqual([expired[third.decision.decision_id], expired[lost.decision.decision_id]],
    ['interrupted_execution_unknown', 'authorization_unused']);
  assert.equal((await crew.before(args())).reason, 'interrupted_execution_unknown');
  assert.equal((await crew.before(args(2))).reason, 'duplicate_outcome', 'silence proves nothing');
  assert.equal((await crew.after(third.decision)).json.reason, 'duplicate_outcome', 'too late');
  gw.verify();
});

test('decisions and bindings survive SIGKILL, and nothing is bound twice', async (t) => {
  const { gw, crew } = await setUp(t, { framework: { timeout: '10s' } });
  const open = (await crew.before(args(1))).decision;
  const bound = (await crew.before(args(2))).decision;
  const lost = (await crew.before(args(3))).decision;
  await crew.bind(bound, args(2));
  await crew.bind(lost, args(3));
  await gw.restart('SIGKILL');
  const again = framework(gw);
  assert.equal((await again.bind(bound, args(2))).reason, 'duplicate_outcome');
  assert.equal((await again.before(args(2))).reason, 'duplicate_in_flight');
  assert.equal((await again.after(bound)).status, 200);
  assert.equal((await again.bind(open, args(1))).verdict, 'allow');
  assert.equal((await again.after(open)).status, 200);
  await until(() => gw.show(lost.decision_id).outcome?.error_type === 'interrupted_execution_unknown',
    'the outcome of a call without a report');
  gw.verify();
});

test('repeated kills under load bind no call twice, end none twice and lose none', async (t) => {
  const { gw } = await setUp(t, { framework: { timeout: '2s' }, top: { loops: 2, credential: { lifetime: '2s' } } });
  const bound = new Map(), ended = new Map(), allowed = new Set();
  let going = true, n = 0;
  const patiently = async (fn) => { // a caller whose connection breaks repeats its request
    for (;;) {
      try {
        return await fn(framework(gw));
      } catch (error) { if (error.code === 'ERR_ASSERTION' || !going) throw error; }
      await new Promise((r) => setTimeout(r, 20));
    }
  };
  const count = (map, id) => map.set(id, (map.get(id) ?? 0) + 1);
  const worker = async () => {
    while (going) {
      const what = args(n++);
      const said = await patiently((f) => f.before(what));
      if (said.verdict !== 'allow') { // killed while it was decided about, or its time ran out
        assert.ok(['interrupted_execution_unknown', 'duplicate_outcome'].includes(said.reason), JSON.stringify(said));
        continue;
      }
      const { decision } = said;
      allowed.add(decision.decision_id);
      for (const verdict of await Promise.all([0, 1].map(() => patiently((f) => f.bind(decision, what)))))
        if (verdict.verdict === 'allow') count(bound, decision.decision_id);
      const answers = await Promise.all([0, 1].map(() => patiently((f) => f.after(decision))));
      for (const answer of answers) if (answer.status === 200) count(ended, decision.decision_id);
    }
  };
  const workers = Array.from({ length: 6 }, () => worker().catch((error) => { if (going) throw error; }));
  for (let i = 0; i < 4; i++) {
    const had = n;
    await until(() => n > had + 25, 'some calls');
    await gw.restart('SIGKILL');
  }
  going = false;
  await Promise.all(workers);
  assert.ok(bound.size > 20);
  for (const map of [bound, ended]) for (const [id, times] of map) assert.equal(times, 1, id);
  for (const id of allowed) await until(() => gw.show(id).outcome, `the outcome of ${id}`);
  for (const [id] of ended) assert.equal(gw.show(id).outcome.outcome, 'executed');
  gw.verify();
});

test('a run is sealed by the agent that began it, when none of its calls is in flight', async (t) => {
  const { gw, crew } = await setUp(t);
  const { decision } = await crew.before({ ...args(), boundary_id: 'run' });
  const seal = async (who, id) => {
    const { status, json } = await framework(gw, who).seal(id);
    return `${status} ${json.reason ?? 'sealed'}`;
  };
  assert.equal(await seal(CREW, 'run'), '409 calls_in_flight');
  await crew.bind(decision, args());
  assert.equal(await seal(CREW, 'run'), '409 calls_in_flight');
  assert.equal((await crew.before({ ...args(2), boundary_id: 'run' })).verdict, 'allow', 'and nothing was closed');
  assert.equal(await seal(MATE, 'run'), '404 boundary_unknown', 'of another agent');
  assert.equal(await seal(FOREIGN, 'run'), '404 boundary_unknown', 'of another tenant');
  assert.equal(await seal(CREW, 'none'), '404 boundary_unknown');
  const elsewhere = (await crew.before(args(3))).decision;
  await crew.after(elsewhere, { outcome: 'blocked' });
  assert.match(elsewhere.boundary_id, /^agent:crew:/);
  for (const own of [elsewhere.boundary_id, 'session:x', 'agent:crew:2026', 'writ:refused:2026-11-22'])
    assert.equal(await seal(CREW, own), '404 boundary_unknown');
  await crew.after(decision);
  const [, second] = gw.boundary('run', 'acme').decisions;
  await crew.after(second, { outcome: 'blocked' });
  assert.equal(await seal(CREW, 'run'), '200 sealed');
  gw.verify();
});

test('a call that needs an approval waits for it, and is redeemed once', async (t) => {
  const reviews = { ok: { voters: [{ id: 'ann' }, { id: 'carol' }], quorum: '1' } };
  const { gw, crew } = await setUp(t, { rule: { approval: { review: 'ok' } }, top: { reviews } });
  const review = async (path, body) => (await fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${ANN.token}`, 'content-type': 'application/json' }, body: body &&
    JSON.stringify(body),
  })).json();
  const asked = await crew.before({ ...args(), boundary_id: 'run' });
  assert.deepEqual([asked.verdict, asked.reason, asked.review_state],
    ['require_approval', 'approval_required', 'open']);
  assert.equal(asked.decision.continuation_id, asked.continuation_id);
  assert.equal((await crew.bind(asked.decision, args())).reason, 'decision_not_allow');
  const one = await review(`/${asked.continuation_id}`);
  assert.deepEqual(one.arguments, args().arguments);
  assert.deepEqual(one.voters.map((v) => v.id), ['ann'], 'the caller does not vote');
  await review(`/${asked.continuation_id}/vote`, { vote: 'approve', review_digest: one.review_digest });
  assert.equal((await crew.before({ ...args(), boundary_id: 'run', continuation_id: 'another' })).reason,
    'continuation_mismatch');
  const all = await Promise.all(Array.from({ length: 10 },
    () => crew.before({ ...args(), boundary_id: 'run', continuation_id: asked.continuation_id })));
  const [allowed, ...more] = all.filter((a) => a.verdict === 'allow');
  for (const again of more) assert.deepEqual(again.decision, allowed.decision, 'one authorization, told again');
  assert.equal(gw.decisions(['--decision', 'allow']).length, 1);
  assert.equal(allowed.decision.supersedes, asked.decision.decision_id);
  assert.equal((await crew.bind(allowed.decision, { ...args(), continuation_id: asked.continuation_id })).verdict,
    'allow');
  assert.equal((await crew.after(allowed.decision)).status, 200);
  gw.verify();
});

test('a held call is answered with the verdict', async (t) => {
  const reviews = { ok: { voters: [{ id: 'ann' }], quorum: '1' } };
  const { gw, crew } = await setUp(t, { rule: { approval: { review: 'ok', hold: '20s' } }, top: { reviews } });
  const answer = ask(gw, CREW, 'before', { tool: 'crew/write', ...args() },
    { accept: 'application/json, text/event-stream' });
  const headers = { authorization: `Bearer ${ANN.token}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${gw.adminPort}/v1/reviews`;
  const [one] = await until(async () => {
    const { reviews: list } = await (await fetch(url, { headers })).json();
    return list.length > 0 && list;
  }, 'a review');
  await fetch(`${url}/${one.id}/vote`,
    { method: 'POST', headers, body: JSON.stringify({ vote: 'approve', review_digest: one.review_digest }) });
  const { json } = await answer;
  assert.equal(json.verdict, 'allow');
  assert.equal((await crew.bind(json.decision, args())).verdict, 'allow');
});

test('budgets, keys and shadow mode apply to hook calls', async (t) => {
  const { gw, crew } = await setUp(t, {
    rule: { budgets: [{ name: 'few', calls: 2, window: '1h' }] },
    tools: { 'crew/watched': rule({ shadow: true, arguments: [{ arg: 'path', op: 'eq', value: 'no' }] }) },
  });
  const header = (key) => ask(gw, CREW, 'before', { tool: 'crew/write', ...args() }, { 'idempotency-key': key });
  const first = (await header('k')).json;
  assert.equal(first.decision.idempotency_key, 'k');
  assert.equal((await crew.before({ ...args(2), idempotency_key: 'k' })).reason, 'idempotency_key_reuse');
  assert.equal((await ask(gw, CREW, 'before', { tool: 'crew/write', idempotency_key: 'a' },
    { 'idempotency-key': 'b' })).json.reason, 'idempotency_key_invalid');
  await crew.after(first.decision, { outcome: 'blocked' });
  for (const n of [1, 2]) assert.equal((await crew.before(args(n))).verdict, 'allow');
  assert.deepEqual([(await crew.before(args(3))).reason, (await crew.before(args(3))).budget],
    ['budget_exceeded', 'few']);
  const watched = await crew.before({ tool: 'crew/watched', arguments: { path: 'x' } });
  assert.deepEqual([watched.verdict, watched.reason, watched.decision.decision],
    ['allow', 'constraint_failed', 'deny']);
  assert.equal((await crew.bind(watched.decision, { tool: 'crew/watched', arguments: { path: 'x' } })).verdict,
    'allow');
  gw.verify();
});

test('the target state is read at the decision and again at the bind', async (t) => {
  let size = 1;
  const up = await startUpstream(t, { onCall: (call) => call.result({ structuredContent: { size }, content: [] }) });
  const { crew } = await setUp(t, {
    rule: { state: { tool: 'up/stat', arguments: { path: '{path}' }, select: ['/size'] } },
    top: { upstreams: { up: { http: up.url } } },
  });
  const { decision } = await crew.before(args());
  assert.match(decision.target_state_digest, /^sha256:/);
  size = 2;
  assert.equal((await crew.bind(decision, args())).reason, 'target_state_drift');
  const again = (await crew.before(args())).decision;
  assert.notEqual(again.target_state_digest, decision.target_state_digest);
  assert.equal((await crew.bind(again, args())).verdict, 'allow');
});

test('a bind after a reload evaluates the new policy', async (t) => {
  const { gw, crew } = await setUp(t);
  const { decision } = await crew.before(args());
  assert.equal((await gw.reload({ ...gw.config,
    ...config({ rule: { arguments: [{ arg: 'path', op: 'eq', value: 'no' },
      { arg: 'text', op: 'type', value: 'any' }] } }) })).event, 'reloaded');
  assert.equal((await crew.bind(decision, args())).reason, 'constraint_failed');
  const reviews = { ok: { voters: [{ id: 'ann' }] } };
  await gw.reload({ ...gw.config, ...config({ rule: { approval: { review: 'ok' } }, top: { reviews } }) });
  assert.equal((await crew.bind(decision, args())).reason, 'approval_required');
  await gw.reload({ ...gw.config,
    ...config({ top: { frameworks: { other: {} } }, tools: { 'crew/write': undefined, 'other/write': rule() } }) });
  assert.equal((await crew.bind(decision, args())).reason, 'tool_mismatch',
    'no framework of that name is configured any more');
  await gw.reload({ ...gw.config, ...config() });
  assert.equal((await crew.bind(decision, args())).verdict, 'allow', 'it was not spent');
});

test('rules for results apply to a reported result', async (t) => {
  const { gw, crew } = await setUp(t,
    { rule: { result: { redact: [{ pattern: 'sk-[a-z0-9]+' }], content: ['text'] } } });
  const said = { a: { z: 1, b: [] }, x: null, 'é': 1, 'w"': 2 };
  const run = async (n, result) => {
    const { decision } = await crew.before(args(n));
    await crew.bind(decision, args(n));
    const answer = { decision, ...(await crew.after(decision, { result, extensions: said })).json };
    const { writ: _, ...others } = answer.outcome.extensions;
    assert.deepEqual(others, said, 'what the caller says beside it stays');
    return answer;
  };
  const plain = await run(1, { content: [{ type: 'text', text: 'fine' }] });
  assert.equal(plain.result, undefined);
  assert.match(plain.outcome.tool_output_hash, /^sha256:/);
  const changed = await run(2, { content: [{ type: 'text', text: 'the key is sk-abc123' }] });
  assert.doesNotMatch(changed.result.content[0].text, /abc123/);
  assert.ok(changed.outcome.extensions.writ.output_rules.length > 0);
  const refused = await run(3, { content: [{ type: 'image', data: '', mimeType: 'image/png' }] });
  assert.equal(refused.withheld, 'result_content_refused');
  assert.equal(refused.result, undefined);
  assert.doesNotMatch(textOfLedger(gw.ledgerFile) + gw.logText, /sk-abc123/);
  gw.verify();
});

test('the hook API cannot bind or end an MCP call, and MCP cannot call a framework\'s tool', async (t) => {
  const up = await startUpstream(t);
  const { gw, crew } = await setUp(t, {
    top: { upstreams: { up: { http: up.url } } }, tools: { 'up/pay': rule({ duplicates: 'allow' }) },
  });
  const s = await openSession(gw, { token: CREW.token });
  assert.equal((await s.call('crew__write', args().arguments)).reason, 'tool_not_listed');
  assert.equal((await crew.before({ tool: 'up/pay', ...args() })).reason, 'tool_not_listed',
    'no credential for a server behind the gateway');
  await s.call('up__pay', args().arguments);
  const [allow] = gw.decisions(['--decision', 'allow']);
  const { decision } = gw.show(allow.decision_id);
  assert.notEqual((await crew.bind(decision, { tool: 'up/pay', ...args() })).verdict, 'allow');
  assert.equal((await crew.after(decision)).json.reason, 'duplicate_outcome');
  gw.verify();
});

test('a malformed request is refused with a problem and not recorded', async (t) => {
  const { gw } = await setUp(t, { top: { limits: { body: '4KiB' } } });
  const good = JSON.stringify({ tool: 'crew/write', ...args() });
  const told = async (body, headers, who = CREW) => {
    const { status, json } = await ask(gw, who, 'before', body, headers);
    return `${status} ${json.reason}`;
  };

  assert.equal(await told(good, {}, null), '401 unauthenticated');
  assert.equal(await told(good, {}, { token: 'made-up' }), '401 unauthenticated');
  assert.equal(await told(`[${good}]`), '400 batch_refused');
  assert.equal(await told('7'), '400 malformed_request');
  assert.equal(await told('{"tool":"crew/write","tool":"crew/other"}'), '400 malformed_request');
  assert.equal(await told('{"tool":"crew/write","arguments":{"path":"\\ud800"}}'), '400 malformed_request');
  assert.equal(await told(`${good}{}`), '400 malformed_request');
  assert.equal(await told(JSON.stringify({ tool: 'crew/write', arguments: { path: 'x'.repeat(5000) } })),
    '413 request_too_large');
  assert.equal(await told(good, { 'content-type': 'text/plain' }), '415 media_type_unsupported');
  assert.equal(await told({ tool: 'crew/write', agent_id: 'mate' }), '403 agent_id_mismatch');
  for (const bad of [{}, { tool: 7 }, { tool: 'write' }, { tool: '/write' }, { tool: 'crew/' },
    { tool: `crew/${'x'.repeat(600)}` }, { tool: 'crew/write', Arguments: {} },
    { tool: 'crew/write', boundary_id: '' }, { tool: 'crew/write', boundary_id: 'agent:x' },
    { tool: 'crew/write', continuation_id: 7 }, { tool: 'crew/write', request_id: 'a\nb' },
    { tool: 'crew/write', target_state_digest: 7 }]) {
    assert.equal(await told(bad), '422 malformed_request', JSON.stringify(bad).slice(0, 60));
  }
  assert.equal(await told({ tool: 'crew/write', idempotency_key: '' }), '422 idempotency_key_invalid');
  for (const [deed, bad] of [['bind', {}], ['bind', { authorization: 'x', tool: 'crew/write' }],
    ['bind', { authorization: {}, tool: 'crew/write' }],
    ['bind', { authorization: { decision_id: 'x' }, tool: 'crew/write', more: 1 }],
    ['bind', { authorization: { decision_id: 'x' }, tool: 'crew/write', agent_id: 7 }],
    ['bind', { authorization: { decision_id: 'x' } }], ['after', {}], ['seal', {}],
    ['seal', { boundary_id: 'x', more: 1 }], ['seal', { boundary_id: 7 }]]) {
    assert.equal((await ask(gw, CREW, deed, bad)).status, 422, `${deed} ${JSON.stringify(bad)}`);
  }
  assert.equal((await fetch(`${gw.origin}/v1/before`, { headers: { authorization: `Bearer ${CREW.token}` } })).status,
    405);
  for (const [deed, bad] of [['before', '7'], ['before', {}], ['bind', {}], ['after', {}], ['seal', {}]]) {
    const { json } = await ask(gw, CREW, deed, bad);
    assert.ok(json.hint && !/JSON-RPC/.test(json.hint), json.hint);
  }
  assert.equal(gw.decisions().length, 0);
});

test('a body that exceeds its limit while it arrives is refused with a problem', async (t) => {
  const { gw } = await setUp(t, { top: { limits: { body: '4KiB' } } });
  const text = await new Promise((resolve, reject) => {
    let all = '';
    const socket = net.connect(gw.port, '127.0.0.1', () => {
      socket.write(`POST /v1/before HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nAuthorization: ` +
        `Bearer ${CREW.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (let i = 0; i < 8; i++) socket.write(`400\r\n${' '.repeat(1024)}\r\n`);
    });
    socket.on('data', (d) => { all += d; }).on('end', () => resolve(all)).on('error', reject);
  });
  assert.match(text, /^HTTP\/1\.1 413 /);
  assert.match(text, /application\/problem\+json/);
  assert.match(text, /"reason":"request_too_large"/);
});

test('the served API document equals the repository\'s', async (t) => {
  const { gw } = await setUp(t);
  const res = await fetch(`${gw.origin}/v1/openapi.json`);
  assert.equal(res.status, 200);
  assert.equal(res.headers.get('content-type'), 'application/json');
  assert.equal(await res.text(), readFileSync(join(SOURCE, 'gateway/hook/openapi.json'), 'utf8'));
  assert.equal(DOCUMENT.openapi, '3.1.0');
  const refs = [...JSON.stringify(DOCUMENT).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((m) => m[1]);
  for (const name of refs) assert.ok(DOCUMENT.components.schemas[name], name);
  for (const name of Object.keys(DOCUMENT.components.schemas)) assert.ok(refs.includes(name), `${name} is used`);
});

test('without a writable ledger the hook API decides no call', async (t) => {
  const gw = await startGateway(t, config());
  const { decision } = await framework(gw).before(args());
  const lock = writ(['ledger', 'verify', gw.ledgerFile]);
  assert.equal(lock.code, 0);
  const release = await holdLedger(t, gw.ledgerFile);
  try {
    const [before, bind] = await Promise.all([
      ask(gw, CREW, 'before', { tool: 'crew/write', ...args(2) }),
      ask(gw, CREW, 'bind', { authorization: decision, tool: 'crew/write', ...args() })]);
    assert.deepEqual([before.status, before.json.reason], [503, 'ledger_unavailable']);
    assert.deepEqual([bind.status, bind.json.reason], [503, 'ledger_unavailable']);
  } finally {
    release();
  }
  await until(async () => (await framework(gw).before(args(3)).catch(() => ({}))).verdict === 'allow',
    'the ledger to go on');
});
