// Governed calls, end to end: forwarded and refused calls, duplicates, shadow mode, budgets, the state of targets, runs
// and their ends. Upstream and ledger must agree every time.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANYBODY, bearer, sha256, startGateway, until, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, LEGACY, openSession } from '../support/js/rpc.mjs';

const AMOUNT = [{ arg: 'amount', op: 'type', value: 'number' }];

async function setUp(t, rules, config = {}, options = {}) {
  const up = await startUpstream(t, options);
  const tools = Object.fromEntries(Object.entries(rules).map(([name, rule]) => [`up/${name}`, rule]));
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools, ...config });
  return { up, gw, s: await openSession(gw) };
}

/** H of the contract, by the program itself. */
function digest(value) {
  const run = writ(['json', 'digest'], { input: JSON.stringify(value) });
  assert.equal(run.code, 0, run.err);
  return run.out.trim();
}

const claims = (call) => JSON.parse(Buffer.from(call.credential.split('.')[1], 'base64url'));
const decided = (gw, answer) => gw.show(answer.refusal.decision_id);

// ---- allowed and refused

test('an allowed call reaches the upstream as judged and leaves a decision and an outcome', async (t) => {
  const { up, gw, s } = await setUp(t,
    { pay: { scope: 'pay/{to}', target: 'account:{to}',
      arguments: [...AMOUNT, { arg: 'to', op: 'prefix', value: 'DE' }] } });
  up.onCall = (a) => a.result({ content: [{ type: 'text', text: 'paid' }], structuredContent: { balance: 12.5 } });
  const answer = await s.call('up__pay', { to: 'DE1', amount: 2.5 });
  assert.equal(answer.status, 200);
  assert.equal(answer.said, 'paid');
  assert.equal(up.calls.length, 1);
  assert.equal(up.calls[0].name, 'pay');
  assert.deepEqual(up.calls[0].arguments, { to: 'DE1', amount: 2.5 });

  const { decision, outcome } = gw.show(claims(up.calls[0]).jti);
  assert.equal(decision.decision, 'allow');
  assert.equal(decision.agent_id, 'dev');
  assert.equal(decision.agent_role, 'operator');
  assert.equal(decision.tool, 'pay');
  assert.equal(decision.normalized_scope, 'pay/DE1');
  assert.equal(decision.target, 'account:DE1');
  assert.equal(decision.params_hash, digest({ to: 'DE1', amount: 2.5 }));
  assert.equal(decision.intent_digest,
    digest({ agent_id: 'dev', tool: 'pay', params_hash: decision.params_hash, target_state_digest: null }));
  assert.equal(decision.intent_ref,
    digest({ agent_id: 'dev', tool: 'pay', normalized_scope: 'pay/DE1', intent_digest: decision.intent_digest }));
  assert.equal(decision.target_state_digest, null);
  assert.ok(decision.policy_refs.length >= 1);
  assert.equal(decision.seq, 0);
  assert.equal(decision.running_count, 1);
  assert.equal(outcome.outcome, 'executed');
  assert.equal(outcome.tool_output_hash, digest(answer.result));
  assert.equal(outcome.intent_ref, decision.intent_ref);
  assert.ok(outcome.completed_at > decision.issued_at);
  gw.verify();
});

test('a request id with hidden characters is echoed unchanged and escaped in the record', async (t) => {
  const { gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  for (const [i, id] of ['a\u202eb', 'tag\u{e0041}', '\u200b', 'del\x7f\u0085', 'line\u2028\n"\\',
      'seen \u00e9 \u4e2d'].entries()) {
    const answer = await s.call('up__pay', { amount: i }, { id });
    assert.equal(answer.message.id, id);
    const { decision_id } = gw.decisions().at(-1);
    const { request_id } = gw.show(decision_id).decision;
    assert.equal(JSON.parse(request_id), id);
    assert.match(request_id, /^[\x20-\x7e\u00e9\u4e2d]+$/, id);
    assert.doesNotMatch(writ(['ledger', 'show', gw.ledgerFile, decision_id]).out,
      /[\x7f-\x9f\u200b\u2028\u202e]|\u{e0041}/u);
  }
  gw.verify();
});

test('a refusal says which constraint failed and what would be accepted, never the value', async (t) => {
  const { up, gw, s } = await setUp(t,
    { pay: { scope: 'pay',
      arguments: [{ arg: 'amount', op: 'le', value: '500.00' }, { arg: 'currency', op: 'in', value: ['EUR', 'USD'] },
    { arg: 'splits', op: 'each', value: { arg: 'n', op: 'le', value: 10 }, optional: true }] } });
  for (const [args, reason, constraint, secret, argument] of [
    [{ amount: 731.25, currency: 'EUR' }, 'constraint_failed', 'amount le', '731.25', '/amount'],
    [{ amount: 1, currency: 'canary-coin' }, 'constraint_failed', 'currency in', 'canary-coin', '/currency'],
    [{ amount: 1, currency: 'EUR', why: 'canary-why' }, 'argument_not_listed', undefined, 'canary-why', '/why'],
    [{ amount: 1 }, 'constraint_failed', 'currency in', undefined, '/currency'],
    [{ amount: 1, currency: 'EUR', splits: [{ n: 1 }, { n: 99887 }] }, 'constraint_failed', 'splits each, n le',
      '99887', '/splits/1/n'],
    [{ amount: 1, currency: 'EUR', splits: [{ n: 1, 'x/y': 'canary-xy' }] }, 'argument_not_listed', undefined,
      'canary-xy', '/splits/0/x~1y'],
  ]) {
    const answer = await s.call('up__pay', args);
    assert.equal(answer.status, 200);
    assert.equal(answer.error.code, -31001);
    assert.equal(answer.reason, reason);
    assert.equal(answer.refusal.constraint, constraint);
    assert.equal(answer.refusal.argument, argument);
    if (constraint) assert.ok(answer.refusal.accepted);
    if (secret) assert.ok(!answer.text.includes(secret), answer.text);
    const { decision, outcome } = decided(gw, answer);
    assert.equal(decision.decision, 'deny');
    assert.equal(decision.extensions.writ.reason, reason);
    assert.equal(decision.extensions.writ.argument, argument);
    assert.equal(decision.extensions.writ.constraint, constraint);
    assert.equal(outcome.outcome, 'blocked');
    if (secret) assert.ok(!JSON.stringify(decision).includes(secret));
  }
  for (const [name, reason] of [['up__nothing', 'tool_not_listed'], ['nobody__pay', 'tool_not_listed'],
      ['pay', 'tool_not_listed']]) {
    const answer = await s.call(name, { amount: 1 });
    assert.equal(answer.reason, reason);
    assert.equal(decided(gw, answer).decision.decision, 'deny');
  }
  assert.equal(up.calls.length, 0);
  gw.verify();
});

test('an inexact number is refused under every rule', async (t) => {
  const amount = (op, value) => ({ scope: 'pay', arguments: [{ arg: 'amount', op, value }] });
  const { up, gw, s } = await setUp(t, {
    ne: amount('ne', 100), not_in: amount('not_in', [1, 100]), lt: amount('lt', 100),
    each: { scope: 'pay', arguments: [{ arg: 'amounts', op: 'each', value: { op: 'ne', value: 100 } }] },
    any: { scope: 'pay', arguments: [{ arg: '', op: 'type', value: 'any' }] },
    shadow: { ...amount('ne', 100), shadow: true },
    scoped: { ...amount('type', 'number'), scope: 'pay/{amount}' },
    spend: { ...amount('type', 'number'), budgets: [{ window: '1h', sum: { arg: 'amount', max: 1000 } }] },
    asked: { ...amount('type', 'number'),
      approval: { review: 'money', when: [{ arg: 'amount', op: 'eq', value: 100 }] } },
  }, { agents: [ANYBODY, bearer('ann').entry], reviews: { money: { voters: [{ id: 'ann' }] } } });
  for (const source of ['99.9999999999999999999', '100.00000000000000000001', '9007199254740993', '0.10000000000000001',
      '1e-400']) {
    for (const tool of ['ne', 'not_in', 'lt', 'each', 'any', 'shadow', 'scoped', 'spend', 'asked']) {
      const n = JSON.rawJSON(source);
      const answer = await s.call(`up__${tool}`, tool === 'each' ? { amounts: [1, n] } : { amount: n });
      assert.equal(answer.status, 200);
      assert.deepEqual([answer.reason, answer.refusal.argument],
        ['number_not_exact', tool === 'each' ? '/amounts/1' : '/amount'], `${tool} ${source}`);
      assert.ok(!answer.text.includes(source), answer.text);
      const { decision, outcome } = decided(gw, answer);
      assert.deepEqual([decision.decision, decision.params_hash, outcome.outcome], ['deny', undefined, 'blocked']);
      assert.equal(decision.extensions.writ.reason, 'number_not_exact');
    }
  }
  assert.equal(up.calls.length, 0);
  assert.equal((await s.call('up__asked', { amount: 100 })).reason, 'approval_required');
  for (const n of ['100.5', '1.0', '1e2', '500.01', '0.1', '9007199254740994']) {
    assert.equal((await s.call('up__any', { amount: JSON.rawJSON(n) })).said, `ran ${up.calls.length}`, n);
  }
  gw.verify();
});

test('a refused call with inexact numbers is recorded; numbers outside arguments are forwarded unchanged',
    async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  const n = JSON.rawJSON('9007199254740993');
  const refused = async (answer, reason) => {
    assert.deepEqual([answer.status, answer.reason], [200, reason]);
    const { decision } = decided(gw, answer);
    assert.deepEqual([decision.decision, decision.extensions.writ.reason, decision.params_hash],
      ['deny', reason, undefined]);
  };
  for (const tool of ['up__nothing', 'nowhere__pay'])
    await refused(await s.call(tool, { amount: n }), 'tool_not_listed');
  for (const place of ['x', 'progressToken']) {
    assert.equal((await s.call('up__pay', { amount: up.calls.length }, { meta: { [place]: n } })).said,
      `ran ${up.calls.length}`);
    assert.match(up.bytes, new RegExp(`"${place}":9007199254740993[,}]`));
  }
  assert.equal((await s.call('up__pay', { amount: 7 }, { params: { task: { ttl: JSON.rawJSON('1e-400') } } })).said,
    `ran ${up.calls.length}`);
  assert.match(up.bytes, /"ttl":1e-400}/);
  gw.verify();
});

test('duplicates: auto permits repeats of a read-only tool of a trusted server', async (t) => {
  const tool = (name, annotations) => ({ name, inputSchema: { type: 'object' }, ...(annotations && { annotations }) });
  const tools = [tool('peek', { readOnlyHint: true }), tool('pay', { readOnlyHint: false }), tool('mute'),
    tool('once', { readOnlyHint: true }), tool('odd', { readOnlyHint: 'true' })];
  const rule = (more) => ({ scope: 's', arguments: AMOUNT, ...more });
  const rules = { peek: rule(), pay: rule(), mute: rule(), once: rule({ duplicates: 'forbid' }), odd: rule(),
    hidden: rule() };
  const again = async (config) => {
    const { up, gw, s } = await setUp(t, rules, config, { tools });
    const answers = [];
    for (const name of Object.keys(rules)) {
      await s.call(`up__${name}`, { amount: 1 });
      const answer = await s.call(`up__${name}`, { amount: 1 });
      answers.push(answer.reason ?? 'ran');
      if (answer.reason === undefined)
        assert.equal(gw.show(claims(up.calls.at(-1)).jti).decision.extensions.writ.duplicates, 'allow');
    }
    gw.verify();
    return answers;
  };
  const no = 'duplicate_outcome';
  assert.deepEqual(await again({ defaults: { believe_annotations: true } }), ['ran', no, no, no, no, no]);
  assert.deepEqual(await again({}), [no, no, no, no, no, no], 'the word of a server alone is not enough');
  assert.deepEqual(await again({ defaults: { believe_annotations: true, duplicates: 'forbid' } }),
    [no, no, no, no, no, no]);
  assert.deepEqual(await again({ defaults: { duplicates: 'allow' } }), ['ran', 'ran', 'ran', no, 'ran', 'ran']);
});

test('a refusal can be returned as a tool result that the model sees', async (t) => {
  const { up, gw, s } = await setUp(t,
    { pay: { scope: 'pay', arguments: [{ arg: 'amount', op: 'le', value: 10 }], refusal: 'result' } });
  for (const caller of [s, new Caller(gw, { modern: true })]) {
    const answer = await caller.call('up__pay', { amount: 11 });
    assert.equal(answer.status, 200);
    assert.equal(answer.error, undefined);
    assert.equal(answer.result.isError, true);
    assert.match(answer.said, /constraint/);
    assert.equal(answer.reason, 'constraint_failed');
    assert.equal(answer.refusal.constraint, 'amount le');
    assert.equal(answer.result.resultType, caller.modern ? 'complete' : undefined);
    assert.equal(decided(gw, answer).outcome.outcome, 'blocked');
  }
  await s.call('up__pay', { amount: 1 });
  assert.equal((await s.call('up__pay', { amount: 1 })).result.isError, true, 'a duplicate too');
  assert.equal(up.calls.length, 1);
});

test('a tool error is forwarded unchanged and recorded as an error', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  up.onCall = (a) => a.error(-32050, 'no such account', 200, { account: 7 });
  const failed = await s.call('up__pay', { amount: 1 });
  assert.deepEqual(failed.error, { code: -32050, message: 'no such account', data: { account: 7 } });
  const first = gw.show(claims(up.calls[0]).jti);
  assert.deepEqual([first.outcome.outcome, first.outcome.error_type], ['error', 'upstream_error']);
  up.onCall = (a) => a.result({ content: [{ type: 'text', text: 'not enough' }], isError: true });
  const ran = await s.call('up__pay', { amount: 2 });
  assert.equal(ran.result.isError, true);
  const second = gw.show(claims(up.calls[1]).jti);
  assert.equal(second.outcome.outcome, 'executed', 'the tool ran');
  gw.verify();
});

test('a rule applies to the agents, roles and tenants that it names', async (t) => {
  const [alice, bob, eve] = [bearer('alice', { role: 'operator', tenant: 'a' }),
    bearer('bob', { role: 'reader', tenant: 'a' }), bearer('eve', { role: 'operator', tenant: 'b' })];
  const up = await startUpstream(t, { tools: ['pay', 'read', 'own', 'hidden'] });
  const gw = await startGateway(t, {
    agents: [alice.entry, bob.entry, eve.entry], upstreams: { up: { http: up.url } },
    tools: {
      'up/pay': [{ roles: ['operator'], tenants: ['a'], scope: 'pay',
        arguments: [{ arg: 'amount', op: 'le', value: 100 }] },
        { roles: ['reader'], scope: 'pay', arguments: [{ arg: 'amount', op: 'le', value: 1 }] }],
      'up/read': { scope: 'read' }, 'up/own': { agents: ['eve'], scope: 'own' },
    },
  });
  const [a, b, e] = await Promise.all([alice, bob, eve].map((x) => openSession(gw, { token: x.token })));
  const names = async (caller) => (await caller.request('tools/list')).result.tools.map((x) => x.name).sort();
  assert.deepEqual(await names(a), ['up__pay', 'up__read']);
  assert.deepEqual(await names(b), ['up__pay', 'up__read']);
  assert.deepEqual(await names(e), ['up__own', 'up__read'], 'a list shows what the caller may call');
  assert.ok((await a.call('up__pay', { amount: 100 })).result);
  assert.equal((await b.call('up__pay', { amount: 100 })).reason, 'constraint_failed');
  assert.ok((await b.call('up__pay', { amount: 1 })).result);
  assert.equal((await e.call('up__pay', { amount: 1 })).reason, 'agent_not_permitted');
  assert.equal((await a.call('up__own')).reason, 'agent_not_permitted');
  assert.ok((await e.call('up__own')).result);
  assert.equal((await e.call('up__hidden')).reason, 'tool_not_listed');
  assert.equal(up.calls.length, 3);
});

// ---- duplicates

test('replay answers a duplicate with the first result, for a bounded time and size', async (t) => {
  const { up, gw, s } = await setUp(t, {
    pay: { scope: 'pay', arguments: AMOUNT, duplicates: 'replay' },
    brief: { scope: 'pay', arguments: AMOUNT, duplicates: 'replay', replay: { ttl: '1s' } },
    small: { scope: 'pay', arguments: AMOUNT, duplicates: 'replay', replay: { max_bytes: 150 } },
  });
  up.onCall = (a, n) =>
    a.result({ content: [{ type: 'text', text: `ran ${n}` }],
      structuredContent: { n, x: 1e21, pad: a.name === 'small' ? 'x'.repeat(a.arguments.amount) : '' } });
  const first = await s.call('up__pay', { amount: 1 }, { id: 'one' });
  const second = await s.call('up__pay', { amount: 1 }, { id: 2 });
  assert.deepEqual(second.result, first.result);
  assert.equal(second.message.id, 2, 'under its own id');
  assert.equal(await gw.metric('writ_replays_total'), 1);
  await gw.restart();
  assert.deepEqual((await s.call('up__pay', { amount: 1 })).result, first.result, 'also after a restart');
  assert.equal(up.calls.length, 1);
  assert.equal(gw.decisions(['--decision', 'deny']).length, 2, 'a replay is not another run');

  assert.ok((await s.call('up__small', { amount: 10 })).result);
  assert.equal((await s.call('up__small', { amount: 10 })).said, `ran 2`);
  assert.ok((await s.call('up__small', { amount: 90 })).result);
  assert.equal((await s.call('up__small', { amount: 90 })).reason, 'duplicate_outcome', 'longer than what is kept');
  assert.ok((await s.call('up__brief', { amount: 1 })).result);
  const at = Date.now();
  await sleep(at + 1100 - Date.now());
  assert.equal((await s.call('up__brief', { amount: 1 })).reason, 'duplicate_outcome', 'later than it is kept');
  assert.equal(up.calls.length, 4);
  gw.verify();
});

test('replay gives no result while the first call runs or after it failed', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT, duplicates: 'replay' } });
  const gate = Promise.withResolvers();
  up.onCall = async (a) => { await gate.promise; a.error(-32000, 'failed'); };
  const first = s.call('up__pay', { amount: 1 });
  await up.arrived(1);
  assert.equal((await s.call('up__pay', { amount: 1 })).reason, 'duplicate_in_flight');
  gate.resolve();
  assert.equal((await first).error.message, 'failed');
  const second = await s.call('up__pay', { amount: 1 });
  assert.equal(second.reason, 'duplicate_outcome');
  assert.equal(second.refusal.first_outcome, 'error');
  assert.equal(up.calls.length, 1);
});

test('a read-only tool may be called again', async (t) => {
  const { up, gw, s } = await setUp(t, { read: { scope: 'read', duplicates: 'allow' } });
  for (let i = 1; i <= 3; i++) assert.equal((await s.call('up__read')).said, `ran ${i}`);
  const many = await Promise.all(Array.from({ length: 20 }, () => s.call('up__read')));
  assert.equal(many.filter((a) => a.result).length, 20);
  const { decisions, whole } = gw.boundary(gw.decisions()[0].boundary_id);
  assert.ok(whole);
  assert.equal(decisions.length, 23);
  assert.equal(new Set(up.calls.map((c) => claims(c).jti)).size, 23, 'each with a credential of its own');
  gw.verify();
});

// ---- shadow mode

test('shadow in defaults applies to rules without their own, and to no call without a rule', async (t) => {
  const { up, gw, s } = await setUp(t, {
    '*': { scope: 'all' },
    enforced: { scope: 'pay', arguments: [{ arg: 'amount', op: 'le', value: 10 }], shadow: false },
  }, { defaults: { shadow: true } });
  assert.deepEqual(gw.log.filter((l) => l.event === 'shadow').map((l) => [l.level, l.rules]), [['warn', 1]]);
  assert.match((await gw.admin('/readyz')).text, /^rules in shadow mode: 1$/m);
  assert.equal((await s.call('up__whatever', { amount: 1000 })).said, 'ran 1');
  const { decision } = gw.show(claims(up.calls[0]).jti);
  assert.deepEqual([decision.decision, decision.extensions.writ.reason, decision.extensions.writ.shadow],
    ['deny', 'argument_not_listed', true]);
  assert.equal((await s.call('up__enforced', { amount: 1000 })).reason, 'constraint_failed');
  assert.equal((await s.call('other__x', {})).reason, 'tool_not_listed');
  const checked = JSON.parse(writ(['check', '--json', gw.configFile]).out);
  assert.equal(checked.findings.find((f) => f.pointer === '/defaults/shadow').severity, 'warning');

  const from = gw.log.length;
  assert.equal((await gw.reload({ ...gw.config, defaults: { shadow: false } })).event, 'reloaded');
  assert.equal((await s.call('up__whatever', { amount: 1001 })).reason, 'argument_not_listed');
  assert.equal(up.calls.length, 1);
  assert.deepEqual(gw.log.slice(from).filter((l) => l.event === 'shadow'), []);
  assert.doesNotMatch((await gw.admin('/readyz')).text, /shadow/);
});

test('shadow mode forwards a refused call and records the verdict', async (t) => {
  const { up, gw, s } = await setUp(t, {
    pay: { scope: 'pay', arguments: [{ arg: 'amount', op: 'le', value: 10 }], budgets: [{ window: '1h', calls: 2 }],
      shadow: true },
    lost: { scope: 'pay/{missing}', arguments: [{ arg: 'missing', op: 'type', value: 'string', optional: true }],
      shadow: true },
  });
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'ran 1');
  assert.equal((await s.call('up__pay', { amount: 1000 })).said, 'ran 2');
  assert.equal((await s.call('up__pay', { amount: 2, surplus: true })).said, 'ran 3');
  const records = up.calls.map((c) => gw.show(claims(c).jti));
  assert.deepEqual(records.map((r) => r.decision.decision), ['allow', 'deny', 'deny']);
  assert.deepEqual(records.map((r) => r.decision.extensions.writ.reason),
    [undefined, 'constraint_failed', 'argument_not_listed']);
  assert.deepEqual(records.map((r) => r.decision.extensions.writ.shadow ?? false), [false, true, true]);
  assert.deepEqual(records.map((r) => r.outcome.outcome), ['executed', 'executed', 'executed']);
  assert.equal(await gw.metric('writ_shadowed_total'), 2);
  // what policy does not decide stays
  assert.equal((await s.call('up__pay', { amount: 1 })).reason, 'duplicate_outcome');
  assert.equal((await s.call('up__lost', {})).reason, 'scope_missing', 'without a scope nothing can be bound');
  // shadow mode applies to an exhausted budget as well
  for (const amount of [3, 4]) assert.ok((await s.call('up__pay', { amount })).result);
  const last = gw.show(claims(up.calls.at(-1)).jti);
  assert.deepEqual([last.decision.decision, last.decision.extensions.writ.reason, last.outcome.outcome],
    ['deny', 'budget_exceeded', 'executed']);
  assert.equal(up.calls.length, 5);
  gw.verify();
});

// ---- budgets

test('concurrent calls cannot overspend a budget', async (t) => {
  const { up, gw, s } = await setUp(t, {
    pay: { scope: 'pay', arguments: AMOUNT, budgets: [{ window: '1h', sum: { arg: 'amount', max: '100.00' } }] },
    ping: { scope: 'ping', arguments: [{ arg: 'n', op: 'type', value: 'integer' }],
      budgets: [{ window: '1h', calls: 7 }] },
  }, { loops: 2 });
  const callers = [s, await openSession(gw), new Caller(gw), new Caller(gw, { modern: true })];
  const sums = await Promise.all(Array.from({ length: 40 },
    (_, i) => callers[i % 4].call('up__pay', { amount: 10 + i / 1000 })));
  const spent = up.of('pay').reduce((sum, c) => sum + c.arguments.amount, 0);
  assert.ok(spent <= 100, `spent ${spent}`);
  assert.equal(up.of('pay').length, 9);
  assert.equal(sums.filter((a) => a.result).length, 9);
  for (const a of sums.filter((x) => x.error)) assert.equal(a.reason, 'budget_exceeded', a.text);
  const counted = await Promise.all(Array.from({ length: 30 }, (_, i) => callers[i % 4].call('up__ping', { n: i })));
  assert.equal(counted.filter((a) => a.result).length, 7);
  assert.equal(up.of('ping').length, 7);
  const refused = counted.find((a) => a.error);
  assert.equal(decided(gw, refused).decision.decision, 'deny');
  await gw.restart('SIGKILL');
  assert.equal((await s.call('up__ping', { n: 100 })).reason, 'budget_exceeded', 'spent is spent, also after a crash');
  assert.equal((await s.call('up__pay', { amount: 50 })).reason, 'budget_exceeded');
  gw.verify();
});

test('a budget counts calls that ran or may have run, per owner and window', async (t) => {
  const [a, b, c] = [bearer('a', { tenant: 'x' }), bearer('b', { tenant: 'x' }), bearer('c', { tenant: 'y' })];
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    agents: [a.entry, b.entry, c.entry], upstreams: { up: { http: up.url } },
    tools: {
      'up/each': { scope: 's', arguments: AMOUNT, budgets: [{ per: ['agent'], window: '1h', calls: 2 }] },
      'up/tenant': { scope: 's', arguments: AMOUNT, budgets: [{ per: ['tenant'], window: '1h', calls: 2 }] },
      'up/soon': { scope: 's', arguments: AMOUNT, budgets: [{ window: '6s', calls: 1 }] },
      'up/limit': { scope: 's', arguments: [{ arg: 'amount', op: 'le', value: 5 }],
        budgets: [{ window: '1h', calls: 2 }], timeout: '2s' },
    },
  });
  const [sa, sb, sc] = await Promise.all([a, b, c].map((x) => openSession(gw, { token: x.token })));
  const ran = async (s, tool, amount) => ((await s.call(tool, { amount })).reason ?? 'ran');
  assert.deepEqual([await ran(sa, 'up__each', 1), await ran(sa, 'up__each', 2), await ran(sa, 'up__each', 3),
    await ran(sb, 'up__each', 1)], ['ran', 'ran', 'budget_exceeded', 'ran']);
  assert.deepEqual([await ran(sa, 'up__tenant', 1), await ran(sb, 'up__tenant', 2), await ran(sa, 'up__tenant', 3),
    await ran(sc, 'up__tenant', 1)], ['ran', 'ran', 'budget_exceeded', 'ran']);
  assert.equal(await ran(sa, 'up__soon', 1), 'ran');
  assert.equal(await ran(sa, 'up__soon', 2), 'budget_exceeded');
  let amount = 3;
  await until(async () => (await ran(sa, 'up__soon', amount++)) === 'ran', 'the window to move on');
  // refused and duplicate calls use no budget; a call that may have run does
  for (let i = 0; i < 4; i++) assert.equal(await ran(sa, 'up__limit', 6 + i), 'constraint_failed');
  assert.equal(await ran(sa, 'up__limit', 1), 'ran');
  assert.equal(await ran(sa, 'up__limit', 1), 'duplicate_outcome');
  up.onCall = () => {};
  assert.equal(await ran(sa, 'up__limit', 2), 'upstream_timeout');
  assert.equal(await ran(sa, 'up__limit', 3), 'budget_exceeded');
  gw.verify();
});

test('a call that was not sent returns its budget', async (t) => {
  const { up, gw, s } = await setUp(t,
    { pay: { scope: 'pay', arguments: AMOUNT, budgets: [{ window: '1h', calls: 1 }] } });
  const { port } = up;
  await up.close();
  for (let i = 0; i < 3; i++) assert.equal((await s.call('up__pay', { amount: i })).reason, 'upstream_unavailable');
  await up.listen(port);
  assert.ok((await s.call('up__pay', { amount: 0 })).result);
  assert.equal((await s.call('up__pay', { amount: 9 })).reason, 'budget_exceeded');
  gw.verify();
});

// ---- the state of the target

test('a probe by tool selects, records and signs the target state and compares it with the expected one',
    async (t) => {
  const { up, gw, s } = await setUp(t, {
    write: { scope: 'files/{path}', arguments: [{ arg: 'path', op: 'type', value: 'string' }],
      state: { tool: 'up/stat', arguments: { file: 'x:{path}' }, select: ['/size', '/modified'] } },
  });
  let size = 3;
  let shape = 'structured';
  up.onCall = (a) => {
    if (a.name !== 'stat') return a.text('written');
    const state = { size, modified: 'today', accessed: Math.random() };
    if (shape === 'structured') return a.result({ content: [], structuredContent: state });
    if (shape === 'json') return a.text(JSON.stringify(state));
    return a.text(`accessed: ${state.accessed}\nmodified: ${state.modified}\nsize: ${state.size}\n`);
  };
  const want = digest({ '/modified': 'today', '/size': 3 });
  assert.equal((await s.call('up__write', { path: 'a' })).said, 'written');
  const [probe] = up.of('stat');
  assert.deepEqual(probe.arguments, { file: 'x:a' });
  assert.equal(probe.credential, undefined, 'a probe is not a governed call');
  const [first] = up.of('write');
  assert.equal(claims(first).target_state_digest, want);
  assert.equal(gw.show(claims(first).jti).decision.target_state_digest, want);
  assert.equal(gw.decisions().length, 1, 'the probe has no decision');
  assert.equal(await gw.metric('writ_state_probes_total'), 1);

  assert.equal((await s.call('up__write', { path: 'b' }, { state: want })).said, 'written', 'as expected');
  shape = 'json';
  assert.equal((await s.call('up__write', { path: 'c' }, { state: want })).said, 'written',
    'the JSON of a text counts the same');
  size = 4;
  const drift = await s.call('up__write', { path: 'd' }, { state: want });
  assert.equal(drift.reason, 'target_state_drift');
  assert.equal(decided(gw, drift).decision.decision, 'deny');
  shape = 'lines';
  assert.equal((await s.call('up__write', { path: 'e' },
    { state: digest({ '/modified': 'today', '/size': '4' }) })).said, 'written', 'and lines do');
  // the state changes, the call is the same
  size = 5;
  assert.equal((await s.call('up__write', { path: 'a' })).reason, 'duplicate_outcome');
  for (const state of ['sha256:0', 'nonsense', `sha256:${'0'.repeat(64)}`])
    assert.equal((await s.call('up__write', { path: 'f' }, { state })).reason, 'target_state_drift', state);
  assert.equal(up.of('write').length, 4);
  gw.verify();
});

test('concurrent probes in one session each get their own answer', async (t) => {
  const { up, s } = await setUp(t, {
    write: { scope: 'files/{path}', arguments: [{ arg: 'path', op: 'type', value: 'string' }],
      state: { tool: 'up/stat', arguments: { file: '{path}' }, select: ['/of'], timeout: '2s' } },
  });
  const asked = [];
  const open = new Map(); // like the official SDK: of two requests with one id, the second gets the first answer
  up.onCall = (a) => {
    if (a.name !== 'stat') return a.text('written');
    asked.push(a);
    open.set(a.id, a);
    if (asked.length < 4) return undefined;
    for (const { id, arguments: { file } } of asked) {
      open.get(id)?.result({ content: [], structuredContent: { of: file } });
      open.delete(id);
    }
    return undefined;
  };
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((path) => s.call('up__write', { path })));
  assert.deepEqual(answers.map((a) => a.said), Array(4).fill('written'));
  for (const call of up.of('write'))
    assert.equal(claims(call).target_state_digest, digest({ '/of': call.arguments.path }));
});

test('a call on an unreadable target is refused, or the state is absent if the rule permits it', async (t) => {
  const state = (on_error) =>
    ({ tool: 'up/stat', arguments: { file: '{path}' }, select: ['/size'], on_error, timeout: '2s' });
  const path = [{ arg: 'path', op: 'type', value: 'string' }];
  const { up, gw, s } = await setUp(t,
    { strict: { scope: 'f', arguments: path, state: state('deny') },
      lenient: { scope: 'f', arguments: path, state: state('absent') } });
  const answers = {
    missing: (a) => a.result({ content: [{ type: 'text', text: 'ENOENT' }], isError: true }),
    broken: (a) => a.error(-32603, 'broken'), silent: () => {}, cut: (a) => a.destroy(),
    odd: (a) => a.result({ content: [], structuredContent: { other: 1 } }), html: (a) => a.json('<html>', 200),
  };
  up.onCall = (a) => (a.name === 'stat' ? answers[a.arguments.file](a) : a.text('ran'));
  for (const kind of Object.keys(answers)) {
    const strict = await s.call('up__strict', { path: kind });
    assert.equal(strict.reason, 'target_state_unavailable', `${kind}: ${strict.text}`);
    assert.equal(decided(gw, strict).decision.decision, 'deny');
    const lenient = await s.call('up__lenient', { path: kind });
    if (kind === 'missing') assert.equal(lenient.said, 'ran');
    else assert.equal(lenient.reason, 'target_state_unavailable',
      `${kind}: not to know is not to be absent: ${lenient.text}`);
  }
  assert.equal(up.of('strict').length, 0);
  assert.equal(up.of('lenient').length, 1);
  assert.equal(claims(up.of('lenient')[0]).target_state_digest, `sha256:${sha256('null')}`);
  gw.verify();
});

test('a probe reads the target state by resource and by HTTP', async (t) => {
  const pages = { '/items/1': [200, { version: 7, seen: 1 }], '/items/2': [404, {}], '/items/3': [500, {}] };
  const asked = [];
  const web = http.createServer((req, res) => {
    asked.push(req);
    const [status, body] = pages[req.url] ?? [302, {}];
    res.writeHead(status, { 'content-type': 'application/json', ...(status === 302 ? { location: '/items/1' } : {}) })
      .end(JSON.stringify(body));
  });
  await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
  t.after(() => { web.closeAllConnections(); web.close(); });
  const id = [{ arg: 'id', op: 'type', value: 'string' }];
  const { up, gw, s } = await setUp(t, {
    web: { scope: 's', arguments: id,
      state: { http: `http://127.0.0.1:${web.address().port}/items/{id}`, select: ['/version'], on_error: 'absent' } },
    res: { scope: 's', arguments: id, state: { resource: 'item:{id}', on_error: 'absent' } },
  });
  up.onMessage = (a) => {
    if (a.method !== 'resources/read') return undefined;
    if (a.params.uri === 'item:1') a.result({ contents: [{ uri: 'item:1', text: 'seven' }] });
    else a.error(-32002, 'no such resource');
    return true;
  };
  const digestOf = async (tool, arg) => {
    const n = up.calls.length;
    const answer = await s.call(tool, { id: arg });
    return answer.result ? claims(up.calls[n]).target_state_digest : answer.reason;
  };
  assert.equal(await digestOf('up__web', '1'), digest({ '/version': 7 }));
  assert.equal(await digestOf('up__web', '2'), `sha256:${sha256('null')}`, '404 is absent');
  assert.equal(await digestOf('up__web', '3'), 'target_state_unavailable', '500 is not');
  assert.equal(await digestOf('up__web', '4'), 'target_state_unavailable', 'redirects are not followed');
  assert.equal(asked.length, 4);
  assert.ok(asked.every((req) => req.headers.authorization === undefined && req.headers['writ-credential'] ===
    undefined));
  assert.equal(await digestOf('up__res', '1'), digest([{ uri: 'item:1', text: 'seven' }]));
  assert.equal(await digestOf('up__res', '2'), `sha256:${sha256('null')}`);
  gw.verify();
});

test('an argument cannot redirect a probe', async (t) => {
  const asked = [];
  const web = http.createServer((req, res) => { asked.push(req.url); res.end('{"version":1}'); });
  await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
  t.after(() => { web.closeAllConnections(); web.close(); });
  const { up, s } = await setUp(t,
    { web: { scope: 's', arguments: [{ arg: 'id', op: 'type', value: 'string' }],
      state: { http: `http://127.0.0.1:${web.address().port}/items/{id}` } } });
  for (const id of ['../admin', '..', '%2e%2e/admin', 'a/../../admin', 'x?y=1', 'x#y', 'a b', 'a\r\nX: y',
    '//evil.test/', 'ü', '.', 'x/..;/y', '\\..\\admin', '?', '']) await s.call('up__web', { id });
  for (const url of asked) {
    assert.match(url, /^\/items\/[^?#\s]*$/, url);
    assert.ok(!url.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part)), url);
    assert.equal(url.split('/').length, 3, url);
  }
  assert.ok(up.calls.length >= 5, 'most of these are only odd names');
});

test('the state that the caller expects is recorded where no probe observes it', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  const state = `sha256:${'ab'.repeat(32)}`;
  assert.ok((await s.call('up__pay', { amount: 1 }, { state })).result);
  assert.equal(claims(up.calls[0]).target_state_digest, state);
  assert.equal((await s.call('up__pay', { amount: 1 }, { state: `sha256:${'cd'.repeat(32)}` })).reason,
    'duplicate_outcome', 'another expected state is no other call');
  for (const bad of ['sha256:x', 'md5:0', 'x'.repeat(600), 5])
    assert.ok((await s.call('up__pay', { amount: 2 }, { state: bad })).error, String(bad));
  assert.equal(up.calls.length, 1);
  gw.verify();
});

// ---- runs and their ends

test('the end of a session seals its run', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  for (const amount of [1, 2, 3]) await s.call('up__pay', { amount });
  const boundary = gw.decisions()[0].boundary_id;
  assert.equal((await s.close()).status, 200);
  const records = await until(() => { const r = gw.boundary(boundary); return r.seal && r; }, 'the seal');
  assert.ok(records.whole);
  assert.deepEqual([records.seal.sealed, records.seal.total, records.seal.final_seq], [true, 3, 2]);
  assert.equal(records.seal.seal_hash.replace('sha256:', ''),
    sha256(records.decisions.map((d) => d.decision_id).join('')));
  assert.equal((await s.call('up__pay', { amount: 4 })).status, 404);
  assert.equal((await s.close()).status, 404);
  assert.equal(up.calls.length, 3);
  gw.verify();
});

test('a session that ends while its call runs is sealed after the call', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  const gate = Promise.withResolvers();
  up.onCall = async (a) => { await gate.promise; a.text('ran'); };
  const running = s.call('up__pay', { amount: 1 });
  await up.arrived(1);
  assert.equal((await s.close()).status, 200);
  const boundary = gw.decisions()[0].boundary_id;
  assert.equal(gw.boundary(boundary).seal, undefined);
  gate.resolve();
  assert.equal((await running).said, 'ran');
  const { seal, outcomes, whole } = await until(() => {
    const r = gw.boundary(boundary);
    return r.seal && r;
  }, 'the seal');
  assert.ok(whole);
  assert.equal(seal.total, 1);
  assert.equal(outcomes[0].outcome, 'executed');
  gw.verify();
});

test('an idle session is ended and sealed, and its run refuses further calls', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } },
    { sessions: { idle_expires: '3s' } });
  assert.ok((await s.call('up__pay', { amount: 1 })).result);
  assert.ok((await s.call('up__pay', { amount: 2 }, { boundary: 'run' })).result);
  const sealed = () => gw.decisions().every((d) => d.sealed);
  await until(sealed, 'both runs to be sealed');
  const late = await new Caller(gw).call('up__pay', { amount: 3 }, { boundary: 'run' });
  assert.equal(late.reason, 'boundary_sealed');
  const { decision } = decided(gw, late);
  assert.match(decision.boundary_id, /^writ:refused:/, 'recorded, but not in the run that is sealed');
  assert.ok(decision.evidence_refs.includes('boundary:run'));
  assert.equal((await s.request('ping')).status, 404, 'the session is gone');
  assert.equal(up.calls.length, 2);
  gw.verify();
});

test('a session in use does not end, for every kind of request', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } },
    { sessions: { idle_expires: '8s' } });
  assert.ok((await s.call('up__pay', { amount: 1 })).result);
  for (const pause of [2000, 2500, 2000, 2500]) { // never idle for as long as eight seconds
    await sleep(pause);
    assert.equal((await s.request('ping')).status, 200);
  }
  const late = await s.call('up__pay', { amount: 2 });
  assert.equal(late.said, 'ran 2', late.text);
  await gw.restart();
  assert.equal((await s.call('up__pay', { amount: 3 })).said, 'ran 3', 'nor does a restart end it');
  assert.equal(new Set(gw.decisions().map((d) => d.boundary_id)).size, 1);
  gw.verify();
});

test('a session belongs to its endpoint, before and after a restart', async (t) => {
  const { up, gw, s } = await setUp(t, { pay: { scope: 'pay', arguments: AMOUNT } });
  const own = await openSession(gw, { path: '/mcp/up' });
  for (const again of [false, true]) {
    if (again) await gw.restart();
    for (const [session, path, tool] of [[s, '/mcp/up', 'pay'], [own, '/mcp', 'up__pay']]) {
      const answer = await session.call(tool, { amount: 1 }, { path });
      assert.deepEqual([answer.status, answer.reason], [404, 'session_unknown'], path);
    }
  }
  assert.equal(up.calls.length, 0);
  assert.ok((await own.call('pay', { amount: 1 })).result);
});

test('an initialize with overlong data opens no session, and the error names its source', async (t) => {
  const { up, gw } = await setUp(t, { 'up/pay': { scope: 'pay', arguments: AMOUNT } });
  const c = new Caller(gw);
  const open = (protocolVersion) =>
    c.request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });
  assert.equal((await open('x'.repeat(64))).status, 200);
  const asked = up.arrivals.length;
  const long = await open('x'.repeat(65));
  assert.deepEqual([long.status, long.reason, up.arrivals.length], [400, 'malformed_request', asked]);
  for (const [version, headers] of [['y'.repeat(20_000), {}], [LEGACY, { 'mcp-session-id': 'z'.repeat(20_000) }]]) {
    up.onMessage = (a) =>
      (a.method === 'initialize'
        ? (a.result({ protocolVersion: version, capabilities: {}, serverInfo: { name: 's', version: '1' } }, headers),
          true) : undefined);
    const answer = await open(LEGACY);
    assert.deepEqual([answer.status, answer.reason, answer.headers['mcp-session-id']],
      [502, 'upstream_malformed', undefined]);
  }
});

test('arguments at the depth limit are forwarded, deeper ones refused', async (t) => {
  for (const depth of [64, 256]) {
    const { up, gw, s } = await setUp(t, { deep: { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] } },
      { limits: { json_depth: depth } });
    const nested = (n) => JSON.parse('['.repeat(n) + ']'.repeat(n));
    const most = depth - 3; // the message, params and arguments are levels too
    assert.ok((await s.call('up__deep', { v: nested(most) })).result);
    assert.deepEqual(up.calls[0].arguments, { v: nested(most) });
    assert.equal((await s.call('up__deep', { v: nested(most + 1) })).status, 413);
    up.onCall = (a) => a.result({ content: [], structuredContent: nested(50) });
    assert.deepEqual((await s.call('up__deep', { v: 1 })).result.structuredContent, nested(50));
    gw.verify();
  }
});
