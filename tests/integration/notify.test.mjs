// Messages to people about reviews and stops: to mail servers, Slack, Teams and webhooks of this process. Batched,
// quiet, tried again, and without any value of a call.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { SOURCE, prepare, startGateway, until } from '../support/js/gateway.mjs';
import { BOB, DEV, OPS, approve, asks, config } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startMailServer } from '../support/servers/mail-server.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const VALUE = 'value-of-the-call';

/** A receiver of posts; `answer` says with which status, and may wait. */
async function receiver(t) {
  const got = [];
  const sink = { got, answer: () => 200 };
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    got.push({ path: req.url, headers: req.headers, body, json: JSON.parse(body) });
    res.statusCode = await sink.answer(got.length);
    res.end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  sink.url = `http://127.0.0.1:${server.address().port}`;
  return sink;
}

const secretFiles = (files) => (dir) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text, { mode: 0o600 });
};

/** A gateway whose tool needs an approval, and whose places are `notify`. */
async function setUp(t, notify, files = {}, top = {}) {
  const up = await startUpstream(t);
  const { review, ...rest } = top;
  const all = { administrators: ['ops'], admin_url: 'https://admin.example', notify, ...rest };
  const gw = prepare(t, config(up, { top: all, review }),
    { prepare: secretFiles({ secret: `${SECRET}\n`, ...files }) });
  await gw.start();
  return { up, gw, session: await openSession(gw, { token: DEV.token }) };
}

const stop = (gw, path = '', body = { by: 'agent', value: 'crawler', reason: 'leak' }) =>
  fetch(`http://127.0.0.1:${gw.adminPort}/v1/kills${path}`, { method: 'POST',
    headers: { authorization: `Bearer ${OPS.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body) });

test('a webhook gets reviews and stops, signed, in one message for many, with links and without values', async (t) => {
  const sink = await receiver(t);
  const { gw, session } = await setUp(t,
    { hook: { webhook: `${sink.url}/hook`, secret: 'secret', batch: '1s' } });
  const ids = [];
  for (const amount of [1, 2, 3]) ids.push(await asks(session, { amount, to: VALUE }));
  await until(() => sink.got.length > 0, 'a message');
  const [{ headers, body, json }] = sink.got;
  assert.equal(headers['content-type'], 'application/json');
  const key = Buffer.from(SECRET.slice(6), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  assert.equal(json.type, 'notices');
  assert.equal(json.data.title, 'Writ: 3 reviews wait for votes');
  assert.equal(json.data.more, 0);
  assert.deepEqual(json.data.notices.map((n) => n.id), ids);
  const [first] = json.data.notices;
  assert.equal(first.event, 'review_opened');
  assert.equal(first.review, 'finance');
  assert.equal(first.agent_id, 'dev');
  assert.equal(first.tenant, 'acme');
  assert.equal(first.url, `https://admin.example/reviews/${ids[0]}`);
  assert.ok(Date.parse(first.expires_at) > Date.now());

  const { id } = await (await stop(gw)).json();
  assert.equal((await stop(gw, `/${id}/lift`, {})).status, 200);
  await until(() => sink.got.flatMap((m) => m.json.data.notices).some((n) => n.event === 'stop_lifted'), 'the stop');
  const stops = sink.got.flatMap((m) => m.json.data.notices).filter((n) => /^stop/.test(n.event));
  assert.deepEqual(stops.map((n) => [n.event, n.value, n.by, n.who]),
    [['stop_pulled', 'crawler', 'agent', 'ops'], ['stop_lifted', undefined, undefined, 'ops']]);
  await until(async () => await gw.metric('writ_notifications_total') >= 2, 'the count of the messages');
  assert.equal(await gw.metric('writ_notification_failures_total'), 0);
  for (const m of sink.got) assert.doesNotMatch(m.body, new RegExp(VALUE));
});

test('Slack and Teams get their own forms, in which no name is markup', async (t) => {
  const sink = await receiver(t);
  const evil = '<http://evil.example|click> & [x](http://evil.example) \u202e*b*';
  const { gw } = await setUp(t, { chat: { slack: 'slack', batch: '1s' }, room: { teams: 'teams', batch: '1s' } },
    { slack: `${sink.url}/slack/T0/secret\n`, teams: `${sink.url}/teams?sig=secret` });
  assert.equal((await stop(gw, '', { by: 'agent', value: evil, reason: 'x' })).status, 200);
  const at = (path) => until(() => sink.got.find((m) => m.path.startsWith(path)), path);
  const { json: slack } = await at('/slack');
  assert.equal(slack.text, '*Writ: 1 stop was pulled*\nStop pulled by ops (acme): calls of the agent ' +
    '&lt;http://evil.example|click&gt; &amp; [x](http://evil.example) [U+202E]*b*\n');
  const { json: teams, path } = await at('/teams');
  assert.equal(path, '/teams?sig=secret');
  const [{ contentType, content }] = teams.attachments;
  assert.equal(contentType, 'application/vnd.microsoft.card.adaptive');
  assert.equal(content.type, 'AdaptiveCard');
  const runs = content.body.flatMap((block) => {
    assert.equal(block.type, 'RichTextBlock'); // a TextBlock has Markdown
    return block.inlines.map((i) => i.text);
  });
  assert.equal(runs[0], 'Writ: 1 stop was pulled');
  assert.match(runs[1], /agent <http:\/\/evil.example\|click> & \[x\]\(http:\/\/evil.example\) \[U\+202E\]\*b\*$/);
  assert.deepEqual(content.actions, [{ type: 'Action.OpenUrl', title: 'Open', url: 'https://admin.example/' }]);
});

test('a review in Slack and Teams has a link to its page', async (t) => {
  const sink = await receiver(t);
  const { session } = await setUp(t, { chat: { slack: 'slack', batch: '1s' }, room: { teams: 'teams', batch: '1s' } },
    { slack: `${sink.url}/slack`, teams: `${sink.url}/teams` });
  const url = `https://admin.example/reviews/${await asks(session, { amount: 1 })}`;
  await until(() => sink.got.length === 2, 'both');
  const of = (path) => sink.got.find((m) => m.path === path).json;
  assert.ok(of('/slack').text.includes(`<${url}|vote>`));
  assert.equal(of('/teams').attachments[0].content.actions[0].url, url);
});

test('a message names who votes for whom', async (t) => {
  const sink = await receiver(t);
  const { gw, session } = await setUp(t, { hook: { webhook: sink.url, secret: 'secret', batch: '1s' } }, {},
    { review: { delegations: { longest: '7d', stand_ins: ['other'] } } });
  const res = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/delegations`, { method: 'POST',
    headers: { authorization: `Bearer ${BOB.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ delegate: 'other', until: new Date(Date.now() + 3600_000).toISOString() }) });
  assert.equal(res.status, 200);
  await asks(session, { amount: 1 });
  const [{ json }] = await until(() => sink.got.length > 0 && sink.got, 'a message');
  assert.deepEqual(json.data.notices.map((n) => [n.event, n.delegates]), [['review_opened', 'other for bob']]);
});

test('a mail goes over STARTTLS with a verified certificate, and never without it', async (t) => {
  const certs = prepare(t, {}).path('certs');
  const made = spawnSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', certs], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const pem = (name) => readFileSync(join(certs, name));
  const secure = await startMailServer(t,
    { tls: { cert: pem('server.pem'), key: pem('server.key') }, auth: 'pass word' });
  const plain = await startMailServer(t, { auth: 'pass word' });
  const place = (server, more = {}) => ({ email: `smtp://localhost:${server.port}`, from: 'writ@example.com',
    to: ['ops@example.com', 'two@example.com'], user: 'writ', password: 'password', ca: join(certs, 'ca.pem'),
    batch: '1s', ...more });
  const { gw, session } = await setUp(t, { good: place(secure), stripped: place(plain),
    stranger: place(secure, { ca: undefined, email: `smtp://${outer() ?? 'localhost'}:${secure.port}` }) },
  { password: 'pass word\n' });
  const id = await asks(session, { amount: 1, to: VALUE });
  const [mail] = await until(() => secure.mails.length > 0 && secure.mails, 'a mail');
  assert.equal(mail.secure, true);
  assert.deepEqual(mail.auth, { user: 'writ', password: 'pass word' });
  assert.deepEqual(mail.to, ['ops@example.com', 'two@example.com']);
  assert.match(mail.from, /<writ@example.com>/);
  assert.equal(mail.head.subject, 'Writ: 1 review waits for votes');
  assert.equal(mail.head.to, 'ops@example.com, two@example.com');
  assert.equal(mail.head['auto-submitted'], 'auto-generated');
  assert.ok(Math.abs(Date.parse(mail.head.date) - Date.now()) < 600_000, mail.head.date);
  assert.ok(mail.text.startsWith('Review finance: a call of dev (acme) waits for votes until '), mail.text);
  assert.ok(mail.text.includes(`https://admin.example/reviews/${id}`));
  assert.doesNotMatch(mail.text, new RegExp(VALUE));

  const failed = await gw.waitLog('notify_failed', 0, (l) => l.to === 'stripped');
  assert.match(failed.why, /SSL|TLS/i);
  assert.ok(plain.lines.every((l) => /^(EHLO|QUIT|STARTTLS)/.test(l)), 'a password or a mail went over a plain line');
  assert.equal(plain.mails.length, 0);
  assert.doesNotMatch(gw.logText, /pass word/);
});

/** An address of this machine that is not loopback. */
const outer = () => Object.values(networkInterfaces()).flat().find((a) => a.family === 'IPv4' && !a.internal)?.address;

test('a server beyond loopback gets no mail over a plain line, one on loopback does', async (t) => {
  const host = outer();
  const near = await startMailServer(t);
  const far = host && await startMailServer(t, { host });
  const place = (at) => ({ email: `smtp://${at}`, from: 'writ@example.com', to: ['ops@example.com'], batch: '1s' });
  const { gw, session } = await setUp(t, { near: place(`127.0.0.1:${near.port}`),
    ...(far && { far: place(`${host}:${far.port}`) }) });
  await asks(session, { amount: 1 });
  await until(() => near.mails.length === 1, 'a mail on loopback');
  if (far === undefined) return t.diagnostic('NOT TESTED: this machine has no other address');
  await gw.waitLog('notify_failed', 0, (l) => l.to === 'far');
  return assert.ok(far.lines.every((l) => /^(EHLO|QUIT|STARTTLS)/.test(l)), String(far.lines));
});

test('a place that fails is tried again, with one id, and delays neither calls nor other places', async (t) => {
  const bad = await receiver(t);
  const good = await receiver(t);
  bad.answer = (n) => (n < 3 ? 503 : 200);
  const place = (sink) => ({ webhook: `${sink.url}/h`, secret: 'secret', batch: '1s' });
  const { gw, session, up } = await setUp(t, { bad: place(bad), good: place(good) });
  const id = await asks(session, { amount: 1 });
  await until(() => good.got.length === 1 && bad.got.length === 3, 'the third try');
  assert.equal(new Set(bad.got.map((m) => m.headers['webhook-id'])).size, 1);
  assert.ok(bad.got.every((m) => m.json.data.notices[0].id === id));
  const lines = gw.log.filter((l) => l.event === 'notify_failed');
  assert.deepEqual(lines.map((l) => [l.to, l.why, l.notices, l.tries, l.last]),
    [1, 2].map((n) => ['bad', 'answers with status 503', 1, n, false]));
  assert.equal(await gw.metric('writ_notification_failures_total'), 2);
  assert.equal(up.calls.length, 0);
});

test('errors name the place and the file, never the URL that is a secret', async (t) => {
  const { gw, session } = await setUp(t, { chat: { slack: 'slack', batch: '1s' } },
    { slack: 'http://127.0.0.1:1/services/TEAM/token' });
  await asks(session, { amount: 1 });
  const { to, why } = await gw.waitLog('notify_failed');
  assert.equal(to, 'chat');
  assert.match(why, /^the URL in \S*slack: .*onnect/);
  assert.doesNotMatch(gw.logText, /TEAM|token"/);
});

test('in quiet hours reviews wait and stops do not', async (t) => {
  const sink = await receiver(t);
  const day = await receiver(t);
  const hour = (n) => `${String((new Date().getUTCHours() + n + 24) % 24).padStart(2, '0')}:00`;
  const place = (to, more) => ({ webhook: `${to.url}/h`, secret: 'secret', batch: '1s', ...more });
  const { gw, session } = await setUp(t, { night: place(sink, { quiet: `${hour(-1)}-${hour(2)}` }),
    other: place(day, { quiet: `${hour(4)}-${hour(6)}` }) });
  const id = await asks(session, { amount: 1 });
  await until(() => day.got.length === 1, 'a message where it is day');
  await stop(gw);
  await until(() => sink.got.length === 1, 'the stop');
  assert.deepEqual(sink.got[0].json.data.notices.map((n) => n.event), ['stop_pulled']);
  const other = await asks(session, { amount: 2 });
  await until(() => day.got.flatMap((m) => m.json.data.notices).some((n) => n.id === other), 'the other review');
  assert.ok(day.got.flatMap((m) => m.json.data.notices).some((n) => n.id === id));
  assert.equal(sink.got.length, 1);
});

test('a review that was decided before its message was taken is left out', async (t) => {
  const sink = await receiver(t);
  let open = false;
  sink.answer = () => (open ? 200 : 503);
  const { gw, session } = await setUp(t, { hook: { webhook: `${sink.url}/h`, secret: 'secret', batch: '1s' } });
  const id = await asks(session, { amount: 1 });
  await until(() => sink.got.some((m) => m.json.data.notices.some((n) => n.id === id)), 'a first try');
  await approve(gw, id);
  await stop(gw);
  open = true;
  await until(() => sink.got.some((m) => m.json.data.notices.every((n) => n.event === 'stop_pulled')),
    'the stop alone');
});

test('a review that is about to expire has a second notice, and one that was decided has none', async (t) => {
  const sink = await receiver(t);
  const { gw, session } = await setUp(t,
    { hook: { webhook: `${sink.url}/h`, secret: 'secret', batch: '1s', expiring: '10s' } }, {},
    { review: { expires: '12s' } });
  const decided = await asks(session, { amount: 1 });
  const waits = await asks(session, { amount: 2 });
  await approve(gw, decided);
  const notices = () => sink.got.flatMap((m) => m.json.data.notices);
  await until(() => notices().some((n) => n.event === 'review_expiring'), 'the warning');
  assert.deepEqual(notices().filter((n) => n.event === 'review_expiring').map((n) => n.id), [waits]);
});

test('events and tenants restrict what a place gets; a full queue drops, counts and says so', async (t) => {
  const some = await receiver(t);
  const none = await receiver(t);
  const slow = await receiver(t);
  let release, waiting = 0;
  const released = new Promise((resolve) => { release = () => resolve(200); });
  slow.answer = () => { waiting++; return released; }; // also when the gateway has given up and tries again
  const place = (sink, more) => ({ webhook: `${sink.url}/h`, secret: 'secret', batch: '1s', ...more });
  const { gw, session } = await setUp(t, { some: place(some, { events: ['stop_pulled'] }),
    none: place(none, { tenants: ['evil'] }), slow: place(slow) });
  await asks(session, { amount: 1 });
  const pulled = await (await stop(gw)).json();
  await until(() => waiting > 0, 'a message that waits');
  for (let i = 0; i < 270; i++) {
    const { id } = await (await stop(gw)).json();
    if (i % 2) await stop(gw, `/${id}/lift`, {});
  }
  release();
  await gw.waitLog('notices_dropped', 0, (l) => l.to === 'slow');
  assert.ok(await gw.metric('writ_notices_dropped_total') > 0);
  await until(() => some.got.length > 0, 'the stop');
  assert.ok(some.got.flatMap((m) => m.json.data.notices).every((n) => n.event === 'stop_pulled'));
  assert.ok(some.got.flatMap((m) => m.json.data.notices).some((n) => n.id === pulled.id));
  assert.equal(none.got.length, 0);
  await until(() => slow.got.some((m) => m.json.data.more > 0 && m.json.data.notices.length === 20), 'a long message');
});

test('a secret that is missing or open to others stops the start and is named', async (t) => {
  const up = await startUpstream(t);
  const base = (notify) => config(up, { top: { notify } });
  for (const [notify, prepared, says] of [
    [{ a: { slack: 'none' } }, {}, /none/],
    [{ a: { slack: 'url' } }, { url: 'ftp://x' }, /url: needs one line, an https URL/],
    [{ a: { webhook: 'https://x.example', secret: 'short' } }, { short: 'whsec_AAAA' }, /short: wants whsec_/],
  ]) {
    const gw = prepare(t, base(notify), { prepare: secretFiles(prepared) });
    await assert.rejects(gw.start(), /did not start/);
    assert.match(gw.log.find((l) => l.event === 'not_started').why, says);
  }
  await startGateway(t, base({}));
});
