// A ledger on a pair of PostgreSQL servers over TLS: the gateways check certificate and name, find the new primary
// after a failover by themselves, and no output of any program has the password.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { certificates } from '../support/js/certificates.mjs';
import { sound, startFleet } from '../support/js/fleet.mjs';
import { bearer, prepare, until, writ, writBeside } from '../support/js/gateway.mjs';
import { startCluster } from '../support/js/postgres.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const PASSWORD = 'kept-out-of-every-output-7319';
const ADA = bearer('ada');
const TOOLS = { 'up/*': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], timeout: '50s' } };
const NAME = 'localhost';

/** The server presents that certificate from its next start or reload on. */
function present(cluster, certs, name) {
  for (const end of ['pem', 'key']) cluster.writeFile(`server.${end}`, readFileSync(certs.path(`${name}.${end}`)));
}

const SSL = { ssl: true, ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' };

/** A server with TLS, a password file, and the URI of `clusters`. */
async function setUp(t) {
  const certs = certificates(t, NAME);
  const cluster = await startCluster(t, { password: PASSWORD });
  present(cluster, certs, 'good');
  await cluster.set(SSL);
  const passfile = certs.path('pgpass');
  writeFileSync(passfile, `${NAME}:*:*:writ:${PASSWORD}\n`, { mode: 0o600 });
  const uri = (clusters, more = {}) => {
    const { ca = 'ca', ...rest } = more;
    const params = new URLSearchParams({ target_session_attrs: 'read-write', sslmode: 'verify-full',
      sslrootcert: certs.path(`${ca}.pem`), passfile, ...rest });
    return `postgresql://writ@${clusters.map((c) => `${NAME}:${c.port}`)}/writ?${params}`;
  };
  return { certs, cluster, passfile, uri };
}

/** What a program said has neither the password nor the URI. */
function keeps(text, what) {
  assert.ok(!text.includes(PASSWORD), `the password in ${what}`);
  assert.doesNotMatch(text, /passfile=|sslrootcert=|writ@/, `the URI in ${what}`);
}

test('a failover between two hosts: every claim holds, over TLS with the name checked', async (t) => {
  const { certs, cluster: primary, uri } = await setUp(t);
  const standby = await primary.standby(t, { name: 'second', synchronous: true });
  present(standby, certs, 'good');
  await standby.set(SSL);
  const up = await startUpstream(t);
  const ledger = uri([primary, standby]);
  const made = writ(['ledger', 'init', ledger]);
  assert.equal(made.code, 0, made.err);
  const fleet = await startFleet(t, { agents: [ADA.entry], upstreams: { up: { http: up.url } }, tools: TOOLS,
    ledger: { replication: 'synchronous' } }, { ledger });
  const sessions = await Promise.all(fleet.map((g) => openSession(g, { token: ADA.token })));
  const call = (i, n) => sessions[i].call('up__pay', { n }, { key: `k${n}`, boundary: 'run' });
  for (const i of [0, 1]) assert.equal((await call(i, i)).said, `ran ${i + 1}`);
  assert.deepEqual(await primary.sql(
    "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'writ'"), ['t']);

  await primary.powerOff();
  for (const i of [0, 1]) {
    const refused = await call(i, 10 + i);
    assert.equal(refused.reason, 'ledger_unavailable', refused.text);
  }
  await standby.set({ synchronous_standby_names: '' });
  await standby.promote();
  // a primary without a standby of its own is refused, and the gateways say what to set
  for (const g of fleet)
    await until(async () => /synchronous_standby_names/.test((await g.admin('/readyz')).text), 'what to set');
  assert.equal((await call(0, 20)).reason, 'ledger_unavailable');
  await standby.standby(t, { name: 'third', synchronous: true });
  for (const g of fleet)
    await until(async () => (await g.admin('/readyz')).status === 200, 'the gateway to be ready');
  for (const i of [0, 1]) {
    assert.equal((await call(1 - i, i)).reason, 'duplicate_outcome', 'what ran before is known');
    assert.notEqual((await call(i, 10 + i)).said, undefined, 'what was refused runs once');
    assert.equal((await call(1 - i, 10 + i)).reason, 'duplicate_outcome');
  }
  assert.equal(up.calls.length, 4);
  sound(fleet[0]);
  for (const g of fleet) {
    assert.equal(g.starts, 1);
    keeps(g.logText, 'a log');
    for (const path of ['/readyz', '/metrics']) keeps((await g.admin(path)).text, path);
  }
  const shown = writ(['store', 'status', ledger, '--json']);
  assert.equal(shown.code, 0, shown.err);
  keeps(shown.out + shown.err, 'the status');
});

test('a server that cannot prove its name is refused, with the reason', async (t) => {
  const { certs, cluster, uri, passfile } = await setUp(t);
  const made = writ(['ledger', 'init', uri([cluster])]);
  assert.equal(made.code, 0, made.err);
  const up = await startUpstream(t);
  const [gateway] = await startFleet(t, { agents: [ADA.entry], upstreams: { up: { http: up.url } }, tools: TOOLS },
    { names: ['a'], ledger: uri([cluster]) });
  const session = await openSession(gateway, { token: ADA.token });
  const call = (n) => session.call('up__pay', { n });
  assert.equal((await call(0)).said, 'ran 1');
  let n = 1;
  for (const [name, why] of [['other', /server certificate for "db\.example\.com".*does not match host name/],
    ['over', /certificate has expired|certificate verify failed/], ['foreign', /certificate verify failed/]]) {
    present(cluster, certs, name);
    await cluster.restart(); // no connection of before goes on
    const command = writ(['ledger', 'list', uri([cluster])]);
    assert.notEqual(command.code, 0, name);
    assert.match(command.err, why);
    keeps(command.out + command.err, `ledger list, ${name}`);
    let told;
    await until(async () => why.test(told = (await gateway.admin('/readyz')).text), `readyz: ${told}`);
    keeps(told, 'readyz');
    assert.equal((await call(n++)).reason, 'ledger_unavailable');
    assert.equal(up.calls.length, 1, 'nothing was sent');
  }
  present(cluster, certs, 'good');
  await cluster.set({ ssl: false });
  await cluster.restart();
  const plain = writ(['ledger', 'list', uri([cluster])]);
  assert.match(plain.err, /server does not support SSL, but SSL was required/);
  keeps(plain.err, 'a plain server');
  assert.equal((await call(n++)).reason, 'ledger_unavailable');
  await cluster.set(SSL);
  await cluster.restart();
  await until(async () => (await gateway.admin('/readyz')).status === 200, 'the gateway to be ready');
  assert.notEqual((await call(n)).said, undefined);
  // the wrong authority
  const wrong = writ(['ledger', 'list', uri([cluster], { ca: 'stranger' })]);
  assert.match(wrong.err, /certificate verify failed/);
  const none = writ(['ledger', 'list', uri([cluster], { ca: 'nowhere' })]);
  assert.match(none.err, /root certificate file ".*nowhere\.pem" does not exist/);
  for (const said of [wrong.err, none.err]) assert.ok(!said.includes(PASSWORD));
  // the password file
  chmodSync(passfile, 0o644);
  const read = writ(['ledger', 'list', uri([cluster])]);
  assert.notEqual(read.code, 0);
  assert.match(read.err, /password file/);
  assert.ok(!read.err.includes(PASSWORD));
  chmodSync(passfile, 0o600);
  writeFileSync(passfile, `${NAME}:*:*:writ:wrong-${PASSWORD}\n`);
  const denied = writ(['ledger', 'list', uri([cluster])]);
  assert.match(denied.err, /password authentication failed/);
  keeps(denied.err, 'a wrong password');
  keeps(gateway.logText, 'the log');
});

test('a password in the URI is refused everywhere, and repeated nowhere', async (t) => {
  const gateway = prepare(t, {});
  const base = 'postgresql://writ@127.0.0.1:1/writ';
  for (const uri of [base.replace('writ@', `writ:${PASSWORD}@`), `${base}?password=${PASSWORD}`,
    `${base}?sslpassword=${PASSWORD}`, `${base}?pass%77ord=${PASSWORD}`,
    `${base}?connect_timeout=2&password=${PASSWORD}`,
    `postgres://writ:${PASSWORD}@127.0.0.1:1,127.0.0.1:2/writ?target_session_attrs=read-write`]) {
    for (const args of [['ledger', 'init', uri], ['ledger', 'list', uri], ['ledger', 'verify', uri],
      ['store', 'status', uri], ['ledger', 'migrate', uri], ['ledger', 'copy', uri, 'copy.db']]) {
      const run = await writBeside(args, { cwd: gateway.dir });
      assert.notEqual(run.code, 0, args.join(' '));
      assert.match(run.err, /password/, `${args[0]} ${args[1]}: ${run.err}`);
      assert.ok(!(run.out + run.err).includes(PASSWORD), `${args[0]} ${args[1]} repeats it`);
    }
    gateway.configure({ ...gateway.config, store: uri });
    for (const args of [['check', gateway.configFile], ['serve', gateway.configFile], ['doctor', gateway.configFile]]) {
      const run = await writBeside(args, { cwd: gateway.dir });
      assert.notEqual(run.code, 0, `${args[0]} takes ${uri}`);
      assert.ok(!(run.out + run.err).includes(PASSWORD), `${args[0]} repeats it: ${run.out}${run.err}`);
    }
  }
});
