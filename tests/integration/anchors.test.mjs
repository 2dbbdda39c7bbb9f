// Checkpoints that are kept elsewhere: in a file and at a URL, by the command and by a running gateway.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync,
  symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkpoint as signed, vkey } from '../conformance/verify.mjs';
import { BIN, SOURCE, startGateway, textOf, until, writ } from '../support/js/gateway.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = { 'up/echo': { scope: 'all', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] } };
let certs;
before(() => {
  certs = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  execFileSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', certs], { stdio: 'ignore' });
});
after(() => rmSync(certs, { recursive: true, force: true }));

async function world(t, ledger) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: ANY, ...(ledger ? { ledger } : {}) });
  return gw;
}
async function calls(gw, n) {
  const session = await openSession(gw);
  for (let i = 0; i < n; i++) assert.equal((await session.call('up__echo', { n: i })).status, 200);
}
/** Not spawnSync: servers of these tests are in this process. */
async function run(args, before = []) {
  const [program, ...rest] = [...before, BIN, ...args];
  const child = spawn(program, rest);
  const told = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => { told.out += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { told.err += text; });
  [told.code, told.signal] = await once(child, 'close');
  return told;
}
const args = (gw, ...more) => ['ledger', 'checkpoint', gw.ledgerFile, '--keys', gw.path('keys'), ...more];
const send = (gw, to, ...more) => run(args(gw, '--to', to, ...more));
const last = (gw) => writ(args(gw)).out;
const sizeOf = (note) => Number(note.split('\n')[1]);

/** A receiver of checkpoints: { url, got, status }. Ends with the test. */
async function receiver(t, { secure = false, port } = {}) {
  const it = { got: [], status: 204, body: '' };
  const take = (req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (d) => { text += d; }).on('end', () => {
      it.got.push({ method: req.method, path: req.url, type: req.headers['content-type'], text });
      res.writeHead(it.status, { location: '/elsewhere' }).end(it.body);
    });
  };
  const tls = () => ({ cert: readFileSync(join(certs, 'server.pem')), key: readFileSync(join(certs, 'server.key')) });
  const server = secure ? createSecureServer(tls(), take) : createServer(take);
  it.port = port ?? await reservePort();
  server.listen(it.port, '127.0.0.1');
  await once(server, 'listening');
  it.url = `${secure ? 'https' : 'http'}://127.0.0.1:${it.port}/anchor?key=hidden`;
  it.close = () => { server.closeAllConnections(); server.close(); };
  t.after(it.close);
  return it;
}

/** What the gateway has on disk, to be put back. */
function keep(gw, to) {
  for (const end of ['', '-wal']) if (existsSync(gw.ledgerFile + end)) copyFileSync(gw.ledgerFile + end, to + end);
}
function putBack(gw, from) {
  for (const end of ['', '-wal', '-shm']) rmSync(gw.ledgerFile + end, { force: true });
  for (const end of ['', '-wal']) if (existsSync(from + end)) copyFileSync(from + end, gw.ledgerFile + end);
}

test('a file anchor holds the last checkpoint, whole and readable by all users', async (t) => {
  const gw = await world(t);
  const to = gw.path('anchor.txt');
  const none = await send(gw, to);
  assert.deepEqual([none.code, existsSync(to)], [3, false], 'nothing is recorded yet');
  await calls(gw, 2);
  const first = await send(gw, to);
  assert.equal(first.code, 0, first.err);
  const note = readFileSync(to, 'utf8');
  assert.equal(note, last(gw));
  assert.equal(first.out, `${note.split('\n')[0]} ${sizeOf(note)}\n`);
  assert.equal(statSync(to).mode & 0o777, 0o644);
  const key = vkey(writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out.split('\n')[0]);
  assert.equal(Number(signed(note, { keys: [key] }).size), sizeOf(note));
  const before = statSync(to);
  assert.equal((await send(gw, to)).code, 0);
  assert.equal(statSync(to).ino, before.ino, 'what it has already is not written again');
  await calls(gw, 3);
  assert.equal((await send(gw, to)).code, 0);
  assert.ok(sizeOf(readFileSync(to, 'utf8')) > sizeOf(note));
  assert.deepEqual(JSON.parse((await send(gw, to, '--json')).out).checkpoint, readFileSync(to, 'utf8'));
  assert.deepEqual(readdirSync(gw.dir).filter((name) => name.startsWith('anchor')), ['anchor.txt']);
});

test('a file anchor is not overwritten by an older, forked or other ledger', async (t) => {
  const gw = await world(t);
  const to = gw.path('anchor.txt');
  await calls(gw, 2);
  await gw.stop();
  keep(gw, gw.path('copy.db'));
  await gw.start();
  await calls(gw, 3);
  assert.equal((await send(gw, to)).code, 0);
  const kept = readFileSync(to, 'utf8');
  await gw.stop();
  putBack(gw, gw.path('copy.db'));
  rmSync(gw.path('ledger.db.remembered')); // else it does not start: restore.test.mjs
  await gw.start();
  const refused = async (what) => {
    const told = await send(gw, to);
    assert.deepEqual([told.code, told.out, readFileSync(to, 'utf8')], [3, '', kept]);
    assert.match(told.err, what);
  };
  await refused(/anchor\.txt is left as it is: ROLLBACK: the ledger has \d+ records, and the checkpoint is of \d+/);
  await calls(gw, 20);
  await refused(/FORK: the ledger does not begin with the \d+ records/);

  const other = await world(t);
  await calls(other, 30);
  const strange = await send(other, to);
  assert.deepEqual([strange.code, readFileSync(to, 'utf8')], [3, kept]);
  assert.match(strange.err, /another ledger/);
  for (const [text, why] of [['', /not a checkpoint/], ['notes of mine\n', /not a checkpoint/],
      ['x'.repeat(100_000), /longer/]]) {
    writeFileSync(to, text);
    const told = await send(other, to);
    assert.deepEqual([told.code, readFileSync(to, 'utf8')], [3, text]);
    assert.match(told.err, why);
  }
});

test('a file anchor keeps the signatures of witnesses under the same checkpoint', async (t) => {
  const gw = await world(t);
  await calls(gw, 1);
  const cosigned = `${last(gw)}\u2014 witness.example AAAAAAAAAAAAAAAA\n`;
  writeFileSync(gw.path('anchor.txt'), cosigned);
  assert.equal((await send(gw, gw.path('anchor.txt'))).code, 0);
  assert.equal(readFileSync(gw.path('anchor.txt'), 'utf8'), cosigned);
});

test('a folder, file, link or pipe that other users can change is refused', async (t) => {
  const gw = await world(t);
  await calls(gw, 1);
  const fails = async (to, why) => {
    const told = await send(gw, to);
    assert.equal(told.code, 3, to);
    assert.match(told.err, why);
  };
  mkdirSync(gw.path('open'));
  chmodSync(gw.path('open'), 0o777);
  await fails(gw.path('open/anchor.txt'), /mode 0777/);
  await fails(gw.path('missing/anchor.txt'), /missing/);
  writeFileSync(gw.path('loose.txt'), last(gw));
  chmodSync(gw.path('loose.txt'), 0o666);
  await fails(gw.path('loose.txt'), /mode 0666/);
  symlinkSync(gw.path('loose.txt'), gw.path('link.txt'));
  await fails(gw.path('link.txt'), /symbolic link/);
  execFileSync('mkfifo', [gw.path('pipe.txt')]);
  await fails(gw.path('pipe.txt'), /regular file/);
  await fails(gw.path(''), /./);
  assert.equal((await send(gw, gw.path('a.txt'), '--ca', join(certs, 'ca.pem'))).code, 2);
  assert.equal((await run(args(gw, '--ca', join(certs, 'ca.pem')))).code, 2);
});

test('a write that ends in the middle keeps the old checkpoint, and so does what a kill leaves', async (t) => {
  const gw = await world(t);
  const to = gw.path('anchor.txt');
  await calls(gw, 1);
  const cut = () => run(args(gw, '--to', to), ['prlimit', '--fsize=100:100']);
  assert.deepEqual([(await cut()).code, existsSync(to)], [4, false]);
  assert.equal((await send(gw, to)).code, 0);
  const first = readFileSync(to, 'utf8');
  assert.equal(first, last(gw));
  await calls(gw, 1);
  assert.equal((await cut()).code, 4);
  assert.equal(readFileSync(to, 'utf8'), first);
  writeFileSync(`${to}.new`, first.slice(0, 100), { mode: 0o600 }); // of one that was killed
  assert.equal((await send(gw, to)).code, 0);
  assert.equal(readFileSync(to, 'utf8'), last(gw));
  assert.equal(existsSync(`${to}.new`), false);

  // two processes at once: the one that finds the folder locked reports it, and the file is whole
  const both = await Promise.all(Array.from({ length: 8 }, () => send(gw, to)));
  for (const told of both) assert.ok(told.code === 0 || (told.code === 4 && /another process writes/.test(told.err)),
    told.err);
  assert.equal(readFileSync(to, 'utf8'), last(gw));
});

test('a URL gets the checkpoint by POST; any status but 2xx is an error that shows the host alone', async (t) => {
  const gw = await world(t);
  const to = await receiver(t);
  await calls(gw, 1);
  const sent = await send(gw, to.url);
  assert.equal(sent.code, 0, sent.err);
  assert.deepEqual(to.got,
    [{ method: 'POST', path: '/anchor?key=hidden', type: 'text/plain; charset=utf-8', text: last(gw) }]);
  for (const status of [301, 302, 400, 404, 500, 503]) {
    to.status = status;
    const told = await send(gw, to.url);
    assert.deepEqual([told.code, told.out], [4, '']);
    assert.match(told.err, new RegExp(`:\\d+: answers with status ${status}`));
    assert.ok(!told.err.includes('hidden') && !told.err.includes('/anchor'));
  }
  to.status = 200;
  to.body = 'x'.repeat(70_000);
  assert.notEqual((await send(gw, to.url)).code, 0, 'an answer without end');
  to.close();
  const gone = await send(gw, to.url);
  assert.deepEqual([gone.code, gone.err.includes('hidden')], [4, false]);
  assert.equal((await send(gw, 'http://192.0.2.1/anchor')).code, 3, 'plain HTTP to another machine');
  assert.equal((await send(gw, 'ftp://127.0.0.1/anchor')).code, 3);
});

test('the certificate of a URL is verified', async (t) => {
  const gw = await world(t);
  const to = await receiver(t, { secure: true });
  await calls(gw, 1);
  assert.equal((await send(gw, to.url)).code, 4);
  assert.deepEqual(to.got, []);
  const good = await send(gw, to.url, '--ca', join(certs, 'ca.pem'));
  assert.equal(good.code, 0, good.err);
  assert.equal(to.got[0].text, last(gw));
});

/** The anchor in a folder that is missing has failed twice more: the others, as often, were looked at in between. */
async function lookedAgain(gw) {
  for (let i = 0; i < 2; i++)
    await gw.waitLog('anchor_failed', gw.log.length, (line) => line.to.endsWith('missing/anchor.txt'));
}

test('a gateway updates its anchors; one that is down stops no call and later gets the newest checkpoint',
    async (t) => {
  const to = await receiver(t);
  const secure = await receiver(t, { secure: true });
  const gw = await world(t, { anchors: [{ to: 'anchor.txt', every: '1s' }, { to: to.url, every: '1s' },
    { to: secure.url, ca: join(certs, 'ca.pem'), every: '1s' }, { to: 'missing/anchor.txt', every: '1s' }] });
  const file = gw.path('anchor.txt');
  const has = (size) =>
    until(() => sizeOf(textOf(file)) === size &&
      [to, secure].every((one) => one.got.length > 0 && sizeOf(one.got.at(-1).text) === size),
      `anchors of ${size} records`);
  await calls(gw, 2);
  await has(sizeOf(last(gw)));
  const before = to.got.length;
  await lookedAgain(gw);
  assert.equal(to.got.length, before, 'what is not new is not sent');
  assert.equal(readFileSync(file, 'utf8'), last(gw));

  to.close();
  await calls(gw, 2);
  const down = await gw.waitLog('anchor_failed', 0, (l) => l.to.startsWith('http:'));
  assert.equal(down.to, new URL(to.url).origin, 'neither path nor query');
  assert.ok(!gw.logText.includes('hidden'));
  await calls(gw, 2);
  const again = await receiver(t, { port: to.port });
  await gw.waitLog('anchor_works', 0, (l) => l.to.startsWith('http:'));
  assert.deepEqual(again.got.map((one) => sizeOf(one.text)), [sizeOf(last(gw))], 'the newest alone');
  assert.ok(await gw.metric('writ_anchor_failures_total') >= 2, 'that of the folder that is missing, too');
  assert.ok(await gw.metric('writ_anchored_total') >= 4);
  mkdirSync(gw.path('missing'), { mode: 0o700 });
  await until(() => existsSync(gw.path('missing/anchor.txt')), 'the folder to be found');

  // a restored ledger does not start, and a resume moves the file aside
  await gw.stop();
  keep(gw, gw.path('copy.db'));
  await gw.start();
  await calls(gw, 4);
  await until(() => textOf(file) === last(gw), 'the file');
  await gw.stop();
  putBack(gw, gw.path('copy.db'));
  await assert.rejects(gw.start(), /ROLLBACK/);
  const resumed = writ(['ledger', 'resume', gw.configFile, '--acknowledge-loss'], { cwd: gw.dir });
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(readdirSync(gw.dir).filter((name) => name.startsWith('anchor.txt.lost-')).length, 1);
  const from = gw.log.length;
  await gw.start();
  assert.equal((await gw.reload({ ...gw.config, ledger: { anchors: [] } })).event, 'reloaded');
  assert.equal((await gw.waitLog('restart_needed', from)).options, 'ledger.anchors');
});

test('after a revocation for a time before the anchor, the gateway sends the same checkpoint under the next key',
    async (t) => {
  const to = await receiver(t);
  const gw = await world(t, { anchors: [{ to: 'anchor.txt', every: '1s' }, { to: to.url, every: '1s' },
    { to: 'missing/anchor.txt', every: '1s' }] });
  const file = gw.path('anchor.txt');
  const kept = () => [textOf(file), to.got.at(-1)?.text];
  await calls(gw, 2);
  await until(() => kept().every((text) => text === last(gw)), 'the anchors');
  const [before] = kept();
  const lost = JSON.parse(writ(['keys', 'list', '--dir', gw.path('keys'), '--json']).out).keys.find((key) =>
    key.purpose === 'ledger' && key.state === 'active').kid;
  assert.equal(writ(['keys', 'revoke', '--dir', gw.path('keys'), '--kid', lost, '--since', '2020-01-01T00:00:00Z'])
    .code, 0);
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await until(() => last(gw) !== '', 'the second signature');
  const after = last(gw);
  assert.equal(sizeOf(after), sizeOf(before));
  assert.ok(after.startsWith(before) && after.length > before.length, 'one signature more');
  await until(() => kept().every((text) => text === after), 'the anchors under the next key');
  const inode = statSync(file).ino;
  const sent = to.got.length;
  await lookedAgain(gw);
  assert.deepEqual([statSync(file).ino, to.got.length], [inode, sent], 'once');

  writeFileSync(file, before); // and by the command
  assert.equal((await send(gw, file)).code, 0);
  assert.equal(readFileSync(file, 'utf8'), after);
});

test('an anchor that never answers does not delay the end of the gateway', async (t) => {
  const server = createServer(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  const asked = once(server, 'request');
  const gw = await world(t, { anchors: [{ to: `http://127.0.0.1:${server.address().port}/`, every: '1s' }] });
  await calls(gw, 1);
  await asked;
  const began = Date.now();
  assert.deepEqual(await gw.stop(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 8000, `${Date.now() - began} ms`);
});

test('an invalid anchor entry is refused with the file', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-anchor-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const check = (anchors) => {
    writeFileSync(join(dir, 'writ.yaml'),
      JSON.stringify({ upstreams: { up: { http: 'http://127.0.0.1:1/' } }, agents: [{ anonymous: true, id: 'a' }],
        tools: ANY, ledger: { anchors } }));
    const told = spawnSync(BIN, ['check', join(dir, 'writ.yaml')], { encoding: 'utf8' });
    return [told.status, told.stdout + told.stderr];
  };
  assert.equal(check([{ to: 'a.txt' }, { to: 'https://example.com/', ca: 'ca.pem', every: '10s' }])[0], 0,
    check([{ to: 'a.txt' }])[1]);
  for (const [anchors, why] of [[[{}], /to/], [[{ to: 'http://example.com/' }], /https URL/],
    [[{ to: 'ftp://example.com/' }], /https URL/],
    [[{ to: 'a.txt', ca: 'ca.pem' }], /only for an https URL/],
    [[{ to: 'http://127.0.0.1/', ca: 'ca.pem' }], /only for an https URL/],
    [[{ to: 'a.txt', every: '500ms' }], /every/], [[{ file: 'a.txt' }], /file/], [{ to: 'a.txt' }, /list/],
    [Array.from({ length: 17 }, () => ({ to: 'a.txt' })), /16/]]) {
    const [code, text] = check(anchors);
    assert.notEqual(code, 0, JSON.stringify(anchors));
    assert.match(text, why);
  }
  assert.equal(check(Array.from({ length: 16 }, () => ({ to: 'a.txt' })))[0], 0);
});
