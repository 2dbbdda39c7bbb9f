// stores.mjs - the ledgers that a fleet run can have: SQLite with one gateway, PostgreSQL with three. A store names the
// faults that it can have beside those of every run, makes its ledger, and does its own faults.
import { setTimeout as sleep } from 'node:timers/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writ } from '../../support/js/gateway.mjs';
import { startCluster } from '../../support/js/postgres.mjs';
import { startPostgresProxy } from '../../support/servers/postgres-proxy.mjs';

const EVERY_RUN = ['kill', 'kill', 'restart', 'pause', 'clock', 'reload', 'reset', 'leave'];

function init(args, options) {
  const run = writ(['ledger', 'init', ...args], options);
  if (run.code !== 0) throw new Error(`ledger init: ${run.code} ${run.err}`);
}

class Sqlite {
  gateways = 1;
  kinds = EVERY_RUN;
  leaseMs = 100; // one gateway has no lease: how long a pause is measured in
  patienceMs = 10_000; // of a client with one answer

  async begin(dir) {
    this.ledger = join(dir, 'ledger.db');
    init([this.ledger]);
  }

  config() {
    return { store: `sqlite://${this.ledger}` };
  }

  get reader() {
    return { ledger: this.ledger, env: {} };
  }
}

class Postgresql {
  gateways = 3;
  kinds = [...EVERY_RUN, 'cut', 'cut', 'lose_commit', 'lose_commit', 'hang', 'partition', 'slow', 'power', 'freeze',
    'failover'];
  leaseMs = 2000;
  patienceMs = 2500;

  async begin(dir, t) {
    this.dir = dir;
    this.t = t;
    // in memory, where fsync costs nothing: a SIGKILL leaves what the kernel has on any file system
    this.primary = await startCluster(t, { parent: existsSync('/dev/shm') ? '/dev/shm' : undefined });
    this.standby = await this.primary.standby(t, { synchronous: true });
    this.proxies = [];
    for (let i = 0; i < this.gateways; i++) this.proxies.push(await startPostgresProxy(t, this.primary.port));
    init([this.primary.uri()]);
    this.lock = Promise.resolve();
  }

  config(gateway) {
    return {
      store: this.primary.uri({ port: this.proxies[gateway].port, params: 'sslmode=disable' }),
      ledger: { replication: 'synchronous', lease: `${this.leaseMs / 1000}s`, gateway: `g${gateway}`,
        files: join(this.dir, `files-${gateway}`) },
    };
  }

  get reader() {
    return { ledger: this.primary.uri(), env: this.primary.env };
  }

  /** The faults of the database, one at a time: each leaves it as it was. */
  async alone(work) {
    const before = this.lock;
    const done = Promise.withResolvers();
    this.lock = done.promise;
    await before;
    try {
      await work();
    } finally {
      done.resolve();
    }
  }

  strike(fault) {
    const proxy = this.proxies[fault.gateway];
    switch (fault.kind) {
      case 'cut':
        proxy.cut();
        return undefined;
      case 'lose_commit':
        proxy.lose({ skip: fault.skip });
        return undefined;
      case 'hang':
        proxy.hang();
        return sleep(fault.for_ms).then(() => proxy.resume());
      case 'partition':
        proxy.refuse();
        return sleep(fault.for_ms).then(() => proxy.accept());
      case 'slow':
        proxy.delay(20);
        return sleep(fault.for_ms).then(() => proxy.delay(0));
      case 'power':
        return this.alone(async () => {
          await this.primary.powerOff();
          await sleep(fault.down_ms);
          await this.primary.start();
        });
      case 'freeze':
        return this.alone(async () => {
          this.primary.pause();
          await sleep(fault.for_ms);
          this.primary.resume();
        });
      case 'failover':
        return this.alone(async () => {
          const old = this.primary;
          await old.powerOff();
          await this.standby.promote();
          this.primary = this.standby;
          for (const p of this.proxies) {
            p.target = this.primary.port;
            p.cut();
          }
          await old.end();
          this.standby = await this.primary.standby(this.t, { synchronous: true });
        });
      default:
        throw new Error(`no store has the fault ${fault.kind}`);
    }
  }

  /** After the last window: nothing waits for an answer that is to be lost. */
  settle() {
    for (const proxy of this.proxies) proxy.forget();
  }
}

export const STORES = { sqlite: () => new Sqlite(), postgresql: () => new Postgresql() };
