// Delegations that voters set while the gateway runs: recorded, applied to the reviews that open, and narrowed at once.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bearer, until, writ, writeFileSync } from '../support/js/gateway.mjs';
import { ALL, ANN, BOB, DEV, EVE, FOREIGN, OPS, OTHER, api, asks, setUp, vote } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { POSTGRES, editLedger } from '../support/js/store.mjs';
import { all, verdicts } from '../support/js/verifiers.mjs';

const ROOT = bearer('root');
const HOUR = 3600_000;
const at = (ms) => new Date(Date.now() + ms).toISOString();

/** A request for delegations. */
async function delegations(gw, who, path = '', body = undefined) {
  const res = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/delegations${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${who.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: res.status, json: await res.json() };
}
const set = (gw, who, body) => delegations(gw, who, '', { until: at(HOUR), ...body });
const revoke = (gw, who, id) => delegations(gw, who, `/${id}/revoke`, {});
const said = ({ status, json }) => `${status} ${json.reason ?? 'ok'}`;

/** The command, with the caller's token in a file. */
function command(gw, who, name, ...operands) {
  const file = gw.path(`token-${who.entry.id}`);
  writeFileSync(file, who.token);
  return writ(['review', name, '--token', file, `http://127.0.0.1:${gw.adminPort}`, ...operands]);
}

const review = { voters: [{ id: 'ann' }, { id: 'bob' }, { id: 'eve' }], quorum: '2', administrators: [],
  delegations: { longest: '7d', stand_ins: ['ops', 'other'] } };
const who = (voters) => voters.map((v) => `${v.id}${v.delegate ? `>${v.delegate}` : ''}${v.stand_in ? '*' : ''}`);

test('a voter names another one, whose vote counts for it; all of it is in the record', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  const before = await asks(s, { amount: 1 });
  const { json: list } = await delegations(gw, BOB);
  assert.deepEqual(list.may, [{ review: 'finance', longest_ms: 7 * 24 * HOUR, delegates: ['ops', 'other'] }]);
  assert.deepEqual([list.voter, list.signs, list.delegations], ['bob', false, []]);

  const { status, json: one } = await set(gw, BOB, { delegate: 'ops', tools: ['up/p*'] });
  assert.equal(status, 200, JSON.stringify(one));
  assert.deepEqual([one.voter, one.delegate, one.tools, one.reviews, one.tenant],
    ['bob', 'ops', ['up/p*'], ['finance'], 'acme']);
  for (const [reader, n] of [[BOB, 1], [OPS, 1], [ANN, 0], [FOREIGN, 0]])
    assert.equal((await delegations(gw, reader)).json.delegations.length, n, reader.entry.id);

  const id = await asks(s, { amount: 2 });
  const { json: seen } = await api(gw, OPS, `/${id}`);
  assert.deepEqual(who(seen.voters), ['ann', 'bob>ops', 'eve', 'ops*']);
  assert.deepEqual(seen.voters[1].delegation, { digest: one.digest, id: one.id, until: one.until });
  assert.deepEqual(seen.may, ['vote']);
  assert.deepEqual(who((await api(gw, ANN, `/${before}`)).json.voters), ['ann', 'bob', 'eve'],
    'a review keeps the terms with which it opened');
  assert.equal((await api(gw, OPS, `/${before}`)).status, 404);

  assert.equal((await vote(gw, OPS, id, 'approve')).json.state, 'open');
  const { json } = await vote(gw, ANN, id, 'approve');
  assert.deepEqual([json.state, json.voters[1].vote, json.voters[1].speaker], ['approved', undefined, 'ops']);
  assert.equal((await s.call('up__pay', { amount: 2 })).said, 'ran 1');
  const replay = writ(['review', 'replay', gw.ledgerFile, id]);
  assert.match(replay.out, /^same: accept, /, replay.err);
  assert.match(writ(['review', 'show', gw.ledgerFile, id]).out,
    new RegExp(`"bob" weight 1, delegates to "ops" until ${one.until} \\(delegation ${one.id}\\): approve by "ops"`));
  assert.deepEqual(JSON.parse(writ(['review', 'show', gw.ledgerFile, id, '--json']).out).records[0].terms.voters[1]
    .delegation, { digest: one.digest, id: one.id, until: one.until });
  const [fact] = writ(['export', gw.ledgerFile]).out.split('\n').filter((line) => line.includes('"delegated"'))
    .map((line) => JSON.parse(line)).map((e) => e.record ?? e);
  assert.deepEqual([fact.data.voter, fact.data.delegate, fact.data.id], ['bob', 'ops', one.id]);
  gw.verify();
});

test('the voter itself votes over its delegate, and the caller is never a delegate', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  assert.equal(said(await set(gw, BOB, { delegate: 'ops' })), '200 ok');
  const own = await asks(s, { amount: 1 });
  await vote(gw, OPS, own, 'approve');
  assert.equal((await vote(gw, BOB, own, 'reject')).json.state, 'open');
  assert.equal((await vote(gw, ANN, own, 'reject')).json.state, 'rejected');

  const ops = await openSession(gw, { token: OPS.token });
  const theirs = await asks(ops, { amount: 2 });
  assert.deepEqual(who((await api(gw, ANN, `/${theirs}`)).json.voters), ['ann', 'bob', 'eve']);
  assert.equal((await vote(gw, OPS, theirs, 'approve')).status, 403);
  gw.verify();
});

test('one that is revoked counts no more, at once, also for a vote that was cast', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  const { json: one } = await set(gw, BOB, { delegate: 'ops' });
  const id = await asks(s, { amount: 1 });
  assert.equal((await vote(gw, OPS, id, 'approve')).json.voters[1].speaker, 'ops');
  for (const [caller, expect] of [[EVE, '404 delegation_unknown'], [FOREIGN, '404 delegation_unknown'], [BOB, '200 ok'],
    [BOB, '404 delegation_unknown']])
    assert.equal(said(await revoke(gw, caller, one.id)), expect, caller.entry.id);
  const { json } = await vote(gw, ANN, id, 'approve');
  assert.equal(json.state, 'open', 'one of three has voted');
  assert.deepEqual([json.voters[1].revoked, json.voters[1].speaker], [true, undefined]);
  assert.equal((await api(gw, OPS, `/${id}`)).status, 404, 'it sees the call no more');
  assert.equal((await vote(gw, OPS, id, 'approve')).json.reason, 'review_unknown');
  assert.deepEqual(who((await api(gw, ANN, `/${await asks(s, { amount: 2 })}`)).json.voters), ['ann', 'bob', 'eve']);
  assert.equal((await vote(gw, BOB, id, 'approve')).json.state, 'approved');
  assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, /^same: accept, /);
  const events = JSON.parse(writ(['review', 'show', gw.ledgerFile, id, '--json']).out).records.map((r) => r.event);
  assert.deepEqual(events, ['open', 'vote', 'revoke', 'vote', 'vote', 'accept']);

  const again = (await set(gw, BOB, { delegate: 'ops' })).json;
  const open = await asks(s, { amount: 3 });
  assert.equal(said(await revoke(gw, OPS, again.id)), '200 ok', 'the delegate may give it back');
  await until(async () => (await api(gw, ANN, `/${open}`)).json.voters[1].revoked, 'the record in the open review');
  gw.verify();
});

test('a vote that is cast after the end of the delegation does not count for the voter', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  const end = Date.now() + 2500;
  assert.equal(said(await set(gw, BOB, { delegate: 'ops', until: new Date(end).toISOString() })), '200 ok');
  assert.equal(said(await set(gw, EVE, { delegate: 'other', until: new Date(end).toISOString() })), '200 ok');
  const id = await asks(s, { amount: 1 });
  assert.deepEqual(who((await api(gw, ANN, `/${id}`)).json.voters), ['ann', 'bob>ops', 'eve>other', 'ops*', 'other*']);
  assert.equal((await vote(gw, OTHER, id, 'approve')).json.voters[2].speaker, 'other', 'in time');
  await until(() => Date.now() > end, 'the end of the delegation');
  const late = await vote(gw, OPS, id, 'approve');
  assert.equal(said(late), '403 vote_not_entitled');
  assert.deepEqual((await api(gw, OPS, `/${id}`)).json.may, []);
  const { json } = await vote(gw, ANN, id, 'approve');
  assert.deepEqual([json.state, json.voters[1].speaker, json.voters[2].speaker], ['approved', undefined, 'other']);
  assert.deepEqual(who((await api(gw, ANN, `/${await asks(s, { amount: 2 })}`)).json.voters), ['ann', 'bob', 'eve']);
  assert.deepEqual((await delegations(gw, BOB)).json.delegations, []);
  assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, /^same: accept, /);
  gw.verify();
});

test('a delegation that begins later counts in the reviews that open from then on', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  const begin = Date.now() + 1500;
  assert.equal(said(await set(gw, BOB, { delegate: 'ops', from: new Date(begin).toISOString() })), '200 ok');
  const voters = async (amount) => who((await api(gw, ANN, `/${await asks(s, { amount })}`)).json.voters);
  assert.deepEqual(await voters(1), ['ann', 'bob', 'eve']);
  await until(() => Date.now() > begin, 'its begin');
  assert.deepEqual(await voters(2), ['ann', 'bob>ops', 'eve', 'ops*']);
});

test('what the policy does not permit is refused, with its reason', async (t) => {
  const { gw } = await setUp(t, { review });
  for (const [caller, body, expect] of [
    [BOB, { delegate: 'eve' }, '403 delegation_not_permitted'], // a voter, without several
    [BOB, { delegate: 'nobody' }, '403 delegation_not_permitted'],
    [BOB, { delegate: 'dev' }, '403 delegation_not_permitted'],
    [OPS, { delegate: 'other' }, '403 delegation_not_permitted'], // no voter
    [DEV, { delegate: 'ops' }, '403 delegation_not_permitted'],
    [BOB, { delegate: 'ops', until: at(8 * 24 * HOUR) }, '403 delegation_not_permitted'],
    [BOB, { delegate: 'ops', until: at(-HOUR) }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', until: 'tomorrow' }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', until: undefined }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', from: at(2 * HOUR) }, '422 delegation_malformed'],
    [BOB, { delegate: 'bob' }, '422 delegation_malformed'],
    [BOB, { delegate: '' }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', tools: ['pay'] }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', tools: ['up/[pay'] }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', tools: [] }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', tools: [''] }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', tools: ['up/pay', ' '] }, '422 delegation_malformed'],
    ...[' up/pay', 'up /pay', 'up/ pay', 'up/pay ', '\tup/pay', 'u.p/pay', '*/pay'].map((tool) =>
      [BOB, { delegate: 'ops', tools: ['up/x', tool] }, '422 delegation_malformed']),
    [BOB, { delegate: 'ops', voter: 'ann' }, '422 delegation_malformed'],
    [BOB, { delegate: 'ops', tools: Array(65).fill('up/pay') }, '422 delegation_malformed'],
    [BOB, { signed: 'x.y.z' }, '422 delegation_malformed']])
    assert.equal(said(await set(gw, caller, body)), expect, JSON.stringify(body));
  for (const [path, body] of [['/x', {}], ['/x/revoke', {}], ['/x/other', {}]])
    assert.equal((await delegations(gw, BOB, path, body)).status, 404);
  const bare = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/delegations`);
  assert.equal(bare.status, 401);

  const many = await Promise.all(Array.from({ length: 66 }, (_, i) =>
    set(gw, BOB, { delegate: 'ops', tools: [`up/t${i}`] })));
  assert.deepEqual(many.map(said).filter((r) => r !== '200 ok'), Array(2).fill('409 delegations_exceeded'));
  gw.verify();

  const { gw: silent } = await setUp(t, { review: { ...review, delegations: undefined } });
  assert.deepEqual((await delegations(silent, BOB)).json.may, []);
  assert.equal(said(await set(silent, BOB, { delegate: 'ops' })), '403 delegation_not_permitted');
});

test('one person casts one vote, unless the review says several', async (t) => {
  const { gw } = await setUp(t, { review, top: { reviewers: { eve: { delegate: { to: 'other' } } } } });
  const s = await openSession(gw, { token: DEV.token });
  assert.equal(said(await set(gw, BOB, { delegate: 'ops' })), '200 ok');
  assert.equal(said(await set(gw, ANN, { delegate: 'ops' })), '200 ok');
  const voters = async (amount) => who((await api(gw, ANN, `/${await asks(s, { amount })}`)).json.voters);
  assert.deepEqual(await voters(1), ['ann', 'bob>ops', 'eve>other', 'other*', 'ops*'], 'that of bob was set first');
  assert.equal(said(await set(gw, ANN, { delegate: 'other' })), '200 ok');
  assert.deepEqual(await voters(2), ['ann', 'bob>ops', 'eve>other', 'other*', 'ops*'], 'other votes for eve');
  assert.equal(said(await set(gw, EVE, { delegate: 'ops' })), '200 ok');
  assert.deepEqual(await voters(3), ['ann', 'bob>ops', 'eve>other', 'other*', 'ops*'],
    'one that does not count leaves that of the configuration');
  gw.verify();
});

const several = { ...review, delegations: { longest: '7d', several: true } };

test('with several, voters name each other; a cycle is refused, also one of two statements at once', async (t) => {
  const { gw } = await setUp(t, { review: several });
  const s = await openSession(gw, { token: DEV.token });
  for (let round = 0; round < 5; round++) {
    const both = await Promise.all([set(gw, BOB, { delegate: 'ann' }), set(gw, ANN, { delegate: 'bob' })]);
    assert.deepEqual(both.map(said).sort(), ['200 ok', '409 delegation_cycle']);
    const ok = both.find((b) => b.status === 200).json;
    assert.equal(said(await revoke(gw, ok.voter === 'bob' ? BOB : ANN, ok.id)), '200 ok');
  }
  assert.equal(said(await set(gw, BOB, { delegate: 'ann' })), '200 ok');
  assert.equal(said(await set(gw, ANN, { delegate: 'eve' })), '200 ok');
  assert.equal(said(await set(gw, EVE, { delegate: 'bob', tools: ['up/pay'] })), '409 delegation_cycle');
  const id = await asks(s, { amount: 1 });
  assert.deepEqual(who((await api(gw, ANN, `/${id}`)).json.voters), ['ann>eve', 'bob>ann', 'eve']);
  const { json } = await vote(gw, EVE, id, 'approve');
  assert.deepEqual([json.state, json.voters[0].speaker, json.voters[1].speaker], ['approved', 'eve', 'eve'],
    'a delegation of a delegation');
  assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, /^same: accept, /);
  gw.verify();
});

test('a cycle with the configuration is refused; one that a reload closes does not count', async (t) => {
  const { gw } = await setUp(t, { review: several, top: { reviewers: { ann: { delegate: { to: 'bob' } } } } });
  assert.equal(said(await set(gw, BOB, { delegate: 'ann' })), '409 delegation_cycle');
  assert.equal(said(await set(gw, BOB, { delegate: 'eve' })), '200 ok');
  const reloaded = await gw.reload({ ...gw.config, reviewers: { eve: { delegate: { to: 'bob' } } } });
  assert.equal(reloaded.event, 'reloaded', reloaded.why);
  const s = await openSession(gw, { token: DEV.token });
  const id = await asks(s, { amount: 1 });
  assert.deepEqual(who((await api(gw, ANN, `/${id}`)).json.voters), ['ann', 'bob', 'eve>bob'],
    'that of the configuration stands');
  gw.verify();
});

test('it holds over a restart and over SIGKILL', async (t) => {
  const { gw } = await setUp(t, { review });
  const { json: one } = await set(gw, BOB, { delegate: 'ops' });
  const { json: gone } = await set(gw, EVE, { delegate: 'other' });
  assert.equal(said(await revoke(gw, EVE, gone.id)), '200 ok');
  for (const signal of ['SIGKILL', 'SIGTERM']) {
    await gw.restart(signal);
    const { json } = await delegations(gw, OPS);
    assert.deepEqual(json.delegations.map((d) => [d.id, d.digest]), [[one.id, one.digest]]);
    const s = await openSession(gw, { token: DEV.token });
    const id = await asks(s, { amount: signal.length });
    assert.deepEqual(who((await api(gw, ANN, `/${id}`)).json.voters), ['ann', 'bob>ops', 'eve', 'ops*']);
  }
  assert.equal(said(await revoke(gw, BOB, one.id)), '200 ok');
  await gw.restart('SIGKILL');
  assert.deepEqual((await delegations(gw, OPS)).json.delegations, []);
  gw.verify();
});

/** A key pair of a voter, its public half and the file of its private one. */
function keyOf(gw, name) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const file = gw.path(`${name}.pem`);
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return { jwk: publicKey.export({ format: 'jwk' }), privateKey, file };
}
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
function jws(key, payload, typ = 'writ-delegation') {
  const input = `${encoded({ alg: 'EdDSA', typ })}.${encoded(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), key.privateKey).toString('base64url')}`;
}

test('a voter with a key must sign its delegations, once each, to one that signs', async (t) => {
  const { gw } = await setUp(t, { review });
  const bob = keyOf(gw, 'bob'), ops = keyOf(gw, 'ops'), stranger = keyOf(gw, 'stranger');
  const reloaded = await gw.reload({ ...gw.config, reviewers: { bob: { key: bob.jwk }, ops: { key: ops.jwk } } });
  assert.equal(reloaded.event, 'reloaded', reloaded.why);
  const { json: { ledger, signs, may } } = await delegations(gw, BOB);
  assert.deepEqual([signs, may[0].delegates], [true, ['ops']], 'other has no key');
  const good = { delegate: 'ops', id: 'first', ledger, until: at(HOUR), voter: 'bob' };
  const send = (token, caller = BOB) => delegations(gw, caller, '', { signed: token });
  assert.equal(said(await set(gw, BOB, { delegate: 'ops' })), '403 delegation_unsigned');
  assert.equal(said(await set(gw, BOB, { delegate: 'other' })), '403 delegation_not_permitted');
  for (const [token, caller, expect] of [
    [jws(stranger, good), BOB, '403 delegation_forged'],
    [jws(bob, { ...good, ledger: 'another' }), BOB, '403 delegation_forged'],
    [jws(bob, { ...good, ledger: undefined }), BOB, '403 delegation_forged'],
    [jws(bob, good), ANN, '403 delegation_forged'],
    [jws(bob, { ...good, voter: 'ann' }), ANN, '403 delegation_not_permitted'], // ann signs nothing: below
    [jws(bob, good, 'writ-vote'), BOB, '422 delegation_malformed'],
    [jws(bob, { ...good, more: 1 }), BOB, '422 delegation_malformed'],
    [jws(bob, { ...good, tenant: 'evil' }), BOB, '422 delegation_malformed'],
    [jws(bob, { ...good, id: 'NO' }), BOB, '422 delegation_malformed'],
    [`${encoded({ alg: 'none', typ: 'writ-delegation' })}.${encoded(good)}.`, BOB, '403 delegation_forged']]) {
    const answer = said(await send(token, caller));
    assert.ok(answer === expect || (expect.endsWith('not_permitted') && answer === '403 delegation_forged'),
      `${answer} for ${expect}`);
  }
  const token = jws(bob, good);
  const [head, , signature] = token.split('.');
  assert.equal(said(await send(`${head}.${encoded({ ...good, until: at(2 * HOUR) })}.${signature}`)),
    '403 delegation_forged');
  assert.equal(said(await send(token)), '200 ok');
  assert.equal(said(await send(token)), '409 delegation_repeated');
  assert.equal(said(await revoke(gw, BOB, 'first')), '200 ok');
  assert.equal(said(await send(token)), '409 delegation_repeated', 'also after it was revoked');

  const run = command(gw, BOB, 'delegate', 'ops', '--for', '2h', '--tools', 'up/pay,up/p*', '--key', bob.file);
  assert.match(run.out, /^\S+ {2}bob to ops until \S+Z, for "?up\/pay"?,"?up\/p\*"?, in finance\n$/, run.err);
  const s = await openSession(gw, { token: DEV.token });
  const id = await asks(s, { amount: 1 });
  const { json } = await api(gw, ANN, `/${id}`);
  assert.deepEqual(who(json.voters), ['ann', 'bob>ops', 'eve', 'ops*']);
  assert.equal(json.voters[3].key.x, ops.jwk.x);
  assert.equal((await vote(gw, OPS, id, 'approve')).json.reason, 'vote_unsigned');
  gw.verify();

  const changed = await gw.reload({ ...gw.config,
    reviewers: { bob: { key: stranger.jwk }, ops: { key: ops.jwk } } });
  assert.equal(changed.event, 'reloaded', changed.why);
  const next = await openSession(gw, { token: DEV.token });
  assert.deepEqual(who((await api(gw, ANN, `/${await asks(next, { amount: 2 })}`)).json.voters), ['ann', 'bob', 'eve'],
    'it was signed with the former key');
  gw.verify();
});

test('commands set, list and revoke', async (t) => {
  const { gw } = await setUp(t, { review, top: { administrators: ['root'],
    agents: [...ALL.map((a) => a.entry), { ...ROOT.entry }] } });
  let run = command(gw, BOB, 'delegate', 'ops', '--until', at(HOUR), '--tools', 'up/*');
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /^\S+ {2}bob to ops until \S+, for "?up\/\*"?, in finance\n$/);
  const [id] = run.out.split(' ');
  run = command(gw, BOB, 'delegations', '--json');
  assert.equal(JSON.parse(run.out).delegations[0].id, id);
  for (const [code, out] of [[command(gw, OPS, 'delegations').code, command(gw, OPS, 'delegations').out],
    [0, writ(['review', 'delegations', gw.ledgerFile]).out]])
    assert.ok(code === 0 && out.startsWith(`${id}  bob to ops until `), out);
  const [kept] = JSON.parse(writ(['review', 'delegations', gw.ledgerFile, '--json']).out).delegations;
  assert.equal(kept.digest, JSON.parse(run.out).delegations[0].digest);
  for (const bad of [['ops'], ['ops', '--for', '1h', '--until', at(HOUR)]])
    assert.equal(command(gw, BOB, 'delegate', ...bad).code, 2, bad.join(' '));
  for (const bad of [['ops', '--for', '0h'], ['ops', '--for', 'h'], ['ops', '--for', '1y'], ['ops', '--until', 'soon'],
    ['ops', '--for', '8d'], ['ops', '--for', '1h', '--tools', 'x'],
    ...['', ' ', ',', ' , ', 'up/pay,,up/x', 'up/pay,'].map((tools) => ['ops', '--for', '1h', '--tools', tools]),
    ['eve', '--for', '1h']])
    assert.notEqual(command(gw, BOB, 'delegate', ...bad).code, 0, bad.join(' '));
  assert.match(command(gw, EVE, 'revoke', id).err, /delegation_unknown/);
  assert.equal(command(gw, ROOT, 'delegations').out.split('\n').length, 2, 'an administrator sees all');
  run = command(gw, ROOT, 'revoke', id);
  assert.deepEqual([run.code, run.out], [0, 'revoked\n'], run.err);
  assert.equal(writ(['review', 'delegations', gw.ledgerFile]).out, '');
  gw.verify();
});

const many = (n, f) => Promise.all(Array.from({ length: n }, (_, i) => f(i)));
const LONG = Array.from({ length: 64 }, (_, i) => `up/${'x'.repeat(230)}${i}`);

test('a list of any length is read in pages, by programs and by the command', async (t) => {
  const { gw } = await setUp(t, { review, top: { administrators: ['root'],
    agents: [...ALL.map((a) => a.entry), { ...ROOT.entry }] } });
  for (const body of [{ delegate: 'ops', tools: LONG }, { delegate: 'ops' }]) {
    const voter = body.tools === undefined ? EVE : BOB;
    assert.deepEqual(new Set((await many(64, () => set(gw, voter, body))).map(said)), new Set(['200 ok']));
  }
  const found = [];
  for (let next = ''; next !== undefined;) {
    const { status, json } = await delegations(gw, ROOT, next);
    assert.equal(status, 200, JSON.stringify(json));
    assert.ok(json.delegations.length > 0 && json.delegations.length <= 100);
    found.push(...json.delegations.map((d) => d.id));
    next = json.next === undefined ? undefined : `?after=${json.next}`;
  }
  assert.deepEqual([found.length, new Set(found).size], [128, 128]);
  for (const bad of ['?after=x', '?after=0', '?after=1&after=2'])
    assert.equal(said(await delegations(gw, ROOT, bad)), '422 malformed_request', bad);
  const lines = (run) => run.out.split('\n').slice(0, -1).map((line) => line.split(' ')[0]);
  assert.deepEqual(lines(command(gw, ROOT, 'delegations')), found);
  assert.deepEqual(lines(writ(['review', 'delegations', gw.ledgerFile])), found);
  const whole = JSON.parse(command(gw, ROOT, 'delegations', '--json').out);
  assert.deepEqual([whole.voter, whole.administrator, whole.next, whole.delegations.map((d) => d.id)],
    ['root', true, undefined, found]);
  assert.deepEqual(JSON.parse(writ(['review', 'delegations', gw.ledgerFile, '--json']).out).delegations
    .map((d) => d.id), found);
  assert.equal(JSON.parse(command(gw, FOREIGN, 'delegations', '--json').out).delegations.length, 0);
});

test('a list says which of its delegations its reader may revoke', async (t) => {
  const GLOBAL = bearer('bob-of-all', { subject: 'bob' });
  const { gw } = await setUp(t, { review, top: { administrators: ['root'],
    agents: [...ALL.map((a) => a.entry), ROOT.entry, GLOBAL.entry] } });
  const { json: one } = await set(gw, GLOBAL, { delegate: 'ops' });
  const { json: other } = await set(gw, BOB, { delegate: 'ops' });
  assert.deepEqual([one.revocable, other.revocable, one.tenant], [true, true, undefined]);
  for (const [reader, expect] of [[OPS, [false, true]], [BOB, [false, true]], [GLOBAL, [true, true]],
    [ROOT, [true, true]]])
    assert.deepEqual((await delegations(gw, reader)).json.delegations.map((d) => d.revocable), expect, reader.entry.id);
  for (const [reader, id, expect] of [[OPS, one.id, '404 delegation_unknown'], [OPS, other.id, '200 ok'],
    [GLOBAL, one.id, '200 ok']])
    assert.equal(said(await revoke(gw, reader, id)), expect);
});

test('a receipt and a bundle show the delegation, and three verifiers accept them', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  const { json: one } = await set(gw, BOB, { delegate: 'ops' });
  const { json: other } = await set(gw, EVE, { delegate: 'other' });
  const id = await asks(s, { amount: 1 });
  await vote(gw, OPS, id, 'approve');
  assert.equal(said(await revoke(gw, EVE, other.id)), '200 ok');
  assert.equal((await vote(gw, ANN, id, 'approve')).json.state, 'approved');
  assert.equal((await s.call('up__pay', { amount: 1 })).said, 'ran 1');
  const trusted = gw.path('trusted'), keys = gw.path('keys');
  writeFileSync(trusted, writ(['ledger', 'key', gw.ledgerFile, '--keys', keys]).out);
  const [allow] = gw.decisions(['--decision', 'allow']);
  for (const [what, run] of [
    ['receipt', writ(['receipt', allow.decision_id, '--ledger', gw.ledgerFile, '--keys', keys])],
    ['bundle', writ(['ledger', 'export', gw.ledgerFile, '--keys', keys, '--agent', 'dev'])]]) {
    assert.equal(run.code, 0, run.err);
    writeFileSync(gw.path(what), run.out);
    assert.deepEqual(verdicts(what, gw.path(what), trusted), all('ok'), what);
    for (const text of [`"digest":"${one.digest}","id":"${one.id}"`, '"event":"revoke"'])
      assert.ok(run.out.includes(text) || run.out.includes(JSON.stringify(text).slice(1, -1)), `${what}: ${text}`);
  }
});

test('a stand-in that is a program is asked while its delegation is in force, and no more', async (t) => {
  const { gw } = await setUp(t, { review });
  const heard = gw.path('heard');
  writeFileSync(gw.path('robot.cjs'), `const { appendFileSync } = require('node:fs');
    require('node:readline').createInterface({ input: process.stdin })
      .on('line', (line) => appendFileSync(${JSON.stringify(heard)}, JSON.parse(line).type + '\\n'));`);
  await gw.stop();
  writeFileSync(heard, '');
  writeFileSync(gw.configFile, JSON.stringify({ ...gw.config,
    reviews: { finance: { ...review, delegations: { longest: '7d', stand_ins: ['robot'] } } },
    reviewers: { robot: { worker: [process.execPath, gw.path('robot.cjs')] } } }));
  await gw.start();
  const asked = () => readFileSync(heard, 'utf8');
  const { status, json: one } = await set(gw, BOB, { delegate: 'robot' });
  assert.equal(status, 200, JSON.stringify(one));
  const s = await openSession(gw, { token: DEV.token });
  const id = await asks(s, { amount: 1 });
  await until(() => asked() === 'review\n', 'the question');
  assert.equal(said(await revoke(gw, BOB, one.id)), '200 ok');
  await until(() => asked() === 'review\nclosed\n', 'the end of the question');
  await vote(gw, ANN, id, 'approve');
  assert.equal(asked(), 'review\nclosed\n');
  gw.verify();
});

test('verification finds a delegation that was edited in the database', async (t) => {
  const { gw } = await setUp(t, { review });
  const s = await openSession(gw, { token: DEV.token });
  await set(gw, BOB, { delegate: 'ops' });
  await asks(s, { amount: 1 });
  await gw.stop();
  gw.verify();
  const [was, is] = ['ops', 'eve'].map((name) => `'"delegate":"${name}","id"'`);
  editLedger(gw.ledgerFile, POSTGRES
    ? `UPDATE body SET bytes = convert_to(replace(convert_from(bytes, 'UTF8'), ${was}, ${is}), 'UTF8')`
    : `UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), ${was}, ${is}) AS BLOB)`);
  const run = writ(['ledger', 'verify', gw.ledgerFile, '--keys', gw.path('keys')]);
  assert.equal(run.code, 1, run.out + run.err);
  assert.match(run.out + run.err, /its review names a delegation that its voter had not set/);
});

test('check refuses delegations that cannot work', async (t) => {
  const { gw } = await setUp(t);
  for (const [given, fault] of [
    [{ stand_ins: ['ops'] }, /finance\/delegations: permits no delegation: set longest/],
    [{}, /permits no delegation/],
    [{ longest: '7d' }, /permits no delegation: set longest, and name stand_ins or set several/],
    [{ longest: '7d', stand_ins: ['bob'] }, /"bob" is a voter: set several/],
    [{ longest: '7d', stand_ins: ['zed'] }, /"zed" can never vote/],
    [{ longest: '7d', stand_ins: Array.from({ length: 62 }, (_, i) => `v${i}`) }, /of at most 64/],
    [{ longest: '1s', several: true }, /longest/]]) {
    writeFileSync(gw.configFile, JSON.stringify({ ...gw.config,
      reviews: { finance: { ...gw.config.reviews.finance, delegations: given } } }));
    const { code, err, out } = writ(['check', gw.configFile]);
    assert.notEqual(code, 0, JSON.stringify(given));
    assert.match(err + out, fault);
  }
});
