// writ top: a running gateway as one table, and live under a pseudo terminal.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { BIN, bearer, startGateway, until, writ, writBeside } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { startTerminal } from '../support/js/terminal.mjs';

const NUMBER = [{ arg: 'n', op: 'le', value: 100 }];
const [DEV, BOSS] = [bearer('dev', { tenant: 'acme' }), bearer('boss', { subject: 'rita', tenant: 'acme' })];
const ENTER = '\x1b[?1049h';
const LEAVE = '\x1b[?1049l';

async function site(t) {
  const up = await startUpstream(t, { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] });
  const gw = await startGateway(t, { agents: [DEV.entry, BOSS.entry], administrators: ['rita'],
    upstreams: { up: { http: up.url }, sick: { stdio: ['/no/such/program'] } },
    reviews: { finance: { voters: [{ id: 'rita' }] } },
    tools: { 'up/pay': { scope: 's', arguments: NUMBER },
      'up/big': { scope: 's', arguments: NUMBER, approval: { review: 'finance' } } } });
  writeFileSync(gw.path('token'), `${BOSS.token}\n`, { mode: 0o600 });
  const session = await openSession(gw, { token: DEV.token });
  return { up, gw, session, url: `http://127.0.0.1:${gw.adminPort}` };
}

/** The words of a process, each ended by NUL; empty when it has ended. */
function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Calls until `ends` is true, each with another number. */
async function traffic(session, ends) {
  for (let n = 0; !ends(); n++) await session.call('up__pay', { n: n % 2 === 0 ? n / 1e6 : 1000 + n });
}

/** The lines of the last whole picture after that place, without controls. */
const picture = (terminal, from) => terminal.text.slice(from).split('\x1b[H').slice(1)
  .findLast((text) => text.includes('q ends'))
  ?.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '').split('\n');

test('one table has the rates, refusals, latencies, upstreams, reviews and stops of real traffic', async (t) => {
  const { gw, session, url } = await site(t);
  await session.call('up__big', { n: 1 });
  let done = false;
  const calls = traffic(session, () => done);
  const [text, json] = await Promise.all([
    writBeside(['top', url, '--every', '1', '--token', gw.path('token')]),
    writBeside(['top', url, '--every', '1', '--token', gw.path('token'), '--json'])]);
  done = true;
  await calls;
  assert.equal(text.code, 0, text.err);
  assert.match(text.out, /^writ top {2}http:\/\/127\S+ {2}\S+Z {2}NOT READY: upstreams: not ready \(sick\)$/m);
  assert.match(text.out, /^calls [1-9]\d*\.\d\/s {2}allow [1-9]\S*\/s {2}deny [1-9]\S*\/s/m);
  assert.match(text.out, /^upstreams 1 up, 1 down sick {2}reviews waiting 1 {2}stops 0$/m);
  assert.match(text.out, /^call +[1-9]\S* +\d\S* ms +\d\S* ms/m);
  assert.match(text.out, /^ +[1-9]\S* +\d+ {2}constraint_failed$/m);
  assert.match(text.out, /^ +[1-9]\S* +\d+ +\d+ +0 {2}up\/pay$/m);
  assert.match(text.out, /^ +0\.0 +0 +0 +1 {2}up\/big$/m);

  const answer = JSON.parse(json.out);
  assert.deepEqual(answer.upstreams, [{ name: 'up', up: true }, { name: 'sick', up: false }]);
  const pay = answer.calls.find((row) => row.tool === 'pay');
  assert.ok(pay.allow > 0 && pay.deny > 0 && Number(pay.per_second) > 0);
  assert.equal(pay.total, pay.allow + pay.deny + pay.require_approval);
  const { p50_seconds, p99_seconds } = answer.latencies.find((row) => row.of === 'call');
  assert.ok(Number(p50_seconds) > 0 && Number(p99_seconds) >= Number(p50_seconds));
  assert.ok(answer.refusals.some((row) => row.reason === 'constraint_failed' && row.total > 0));

  assert.equal(writ(['kill', 'pull', url, 'tool', 'up/pay', '--token', gw.path('token'), '--reason', 'x']).code, 0);
  const stopped = await writBeside(['top', url, '--once', '--every', '1', '--token', gw.path('token')]);
  assert.match(stopped.out, / {2}stops 1$/m);
  const unknown = await writBeside(['top', url, '--once', '--every', '1']);
  assert.match(unknown.out, / {2}stops -$/m);
});

test('on a terminal the picture follows the traffic and the size of the window, and q ends it', async (t) => {
  const { session, url } = await site(t);
  const terminal = await startTerminal(t, [resolve(BIN), 'top', url, '--every', '1'],
    { rows: 30, columns: 90, after: 'stty -a' });
  await terminal.waitFor(/q ends/);
  assert.ok(terminal.text.includes(ENTER));
  await session.call('up__pay', { n: 1 });
  await terminal.waitFor(/ up\/pay/);
  const seen = await terminal.waitFor(/ +1 +0 +0 {2}up\/pay/);
  await session.call('up__pay', { n: 2 });
  await terminal.waitFor(/ +2 +0 +0 {2}up\/pay/, seen.at);

  const from = terminal.text.length;
  terminal.resize(8, 40);
  const fits = (lines) => lines?.length <= 8 && lines.every((line) => line.length <= 40);
  const lines = await until(() => [picture(terminal, from)].find(fits), 'a picture of the smaller size');
  assert.equal(lines.at(-1), 'q ends');
  assert.ok(!terminal.text.includes(LEAVE));

  terminal.keys('q');
  assert.equal(await terminal.ended, 0);
  const left = terminal.text.split(LEAVE)[1];
  assert.match(left, / icanon/);
  assert.match(left, / echo /);
});

test('a gateway that goes away is named until it is back, and a signal gives the terminal back', async (t) => {
  const { gw, url } = await site(t);
  const terminal = await startTerminal(t,
    ['sh', '-c', `echo $$ >${gw.path('pid')}; exec "$@"`, 'sh', resolve(BIN), 'top', url, '--every', '1']);
  await terminal.waitFor(/q ends/);
  await gw.stop();
  const gone = await terminal.waitFor(/NO ANSWER: /);
  gw.configure({ ...gw.config, admin_listen: `127.0.0.1:${gw.adminPort}` });
  await gw.start();
  await terminal.waitFor(/NOT READY: /, gone.at);
  process.kill(Number(readFileSync(gw.path('pid'), 'utf8')), 'SIGTERM');
  assert.equal(await terminal.ended, 0);
  assert.ok(terminal.text.includes(LEAVE));
});

test('it ends when its terminal is gone', async (t) => {
  const { url } = await site(t);
  const terminal = await startTerminal(t, [BIN, 'top', url]);
  await terminal.waitFor(/q ends/);
  const runs = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    .some((pid) => commandLine(pid).startsWith(`${BIN}\0top\0${url}`));
  assert.ok(runs());
  terminal.hangUp();
  await until(() => !runs(), 'its end');
});

test('what is not the admin listener of a gateway is refused, and a wrong line too', async (t) => {
  const { gw, url } = await site(t);
  const other = await writBeside(['top', gw.origin]);
  assert.equal(other.code, 4);
  assert.match(other.err, /check that the URL is that of the admin listener/);
  assert.equal(writ(['top', 'http://127.0.0.1:1']).code, 4);
  assert.equal(writ(['top', url, '--every', '0']).code, 2);
});
