// stores.mjs - the ledgers that a fleet run can have: SQLite with one gateway, PostgreSQL with three. A store names the
// faults that it can have beside those of every run, makes its ledger, and does its own faults.
import { Buffer } from 'node:buffer';
import { chmodSync, existsSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writ } from '../../support/js/gateway.mjs';
import { OWNER, startCluster } from '../../support/js/postgres.mjs';
import { Volume, insideOwnMounts } from '../../support/js/volume.mjs';
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

/** The first message of a client that needs no password. */
function startup() {
  const parameters = Buffer.from(`user\0${OWNER}\0database\0${OWNER}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, parameters]);
}

/** Clients that take every connection of a server. */
class Crowd {
  constructor(port) {
    this.port = port;
    this.sockets = [];
  }

  /** False: the server refuses. */
  join() {
    return new Promise((resolve) => {
      const socket = net.connect(this.port, '127.0.0.1', () => socket.write(startup()));
      this.sockets.push(socket);
      socket.on('data', (bytes) => resolve(bytes[0] === 'R'.charCodeAt(0)));
      socket.on('error', () => {}).on('close', () => resolve(false));
    });
  }

  async fill() {
    while (await this.join());
  }

  leave() {
    for (const socket of this.sockets) socket.destroy();
  }
}

const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : undefined;
const CONNECTIONS = 32; // so that they are soon taken
const VOLUME_KIB = 128 * 1024;
const CLIENTS = `FROM pg_stat_activity WHERE datname = '${OWNER}' AND pid <> pg_backend_pid()`;

class Postgresql {
  gateways = 3;
  kinds = [...EVERY_RUN, 'cut', 'cut', 'lose_commit', 'lose_commit', 'hang', 'partition', 'slow', 'power', 'freeze',
    'failover', 'wait', 'replica', 'lock', 'cancel', 'terminate', 'crowd', 'abort',
    'abort', 'twin', 'migrate', ...(insideOwnMounts ? ['full'] : [])];
  leaseMs = 2000;
  patienceMs = 2500;

  /** Where a server has its folders: in memory, where fsync costs nothing (a SIGKILL leaves what the kernel has on any
   * file system), and where it can be, on a volume of its own. */
  place() {
    if (!insideOwnMounts) return { parent: MEMORY };
    const volume = new Volume(VOLUME_KIB);
    chmodSync(volume.at, 0o711); // the server's user enters it
    this.t.after(() => volume.end());
    return { parent: volume.at, walOutside: true, walParent: MEMORY, volume };
  }

  async follow() {
    const place = this.place();
    this.standby = await this.primary.standby(this.t, { synchronous: true, ...place });
    this.standby.volume = place.volume;
  }

  async begin(dir, t) {
    this.dir = dir;
    this.t = t;
    const place = this.place();
    this.primary = await startCluster(t, { ...place, settings: {
      max_connections: CONNECTIONS, wal_retrieve_retry_interval: '200ms' } }); // a standby is back when its primary is
    this.primary.volume = place.volume;
    await this.follow();
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
          await this.follow();
        });
      case 'wait':
        return this.alone(async () => {
          this.standby.pause();
          await sleep(fault.for_ms);
          this.standby.resume();
        });
      case 'replica':
        return this.alone(async () => {
          proxy.target = this.standby.port;
          proxy.cut();
          await sleep(fault.for_ms);
          proxy.target = this.primary.port;
          proxy.cut();
        });
      case 'lock':
        return this.alone(() => this.primary.sql(`BEGIN; SELECT one FROM coordinator FOR UPDATE;
          SELECT pg_sleep(${fault.for_ms / 1000}); ROLLBACK;`));
      case 'cancel':
        return this.alone(() => this.primary.sql(`SELECT pg_cancel_backend(pid) ${CLIENTS}`));
      case 'terminate':
        return this.alone(() => this.primary.sql(`SELECT pg_terminate_backend(pid) ${CLIENTS}`));
      case 'abort':
        return this.alone(() => this.abort(fault));
      case 'crowd':
        return this.alone(() => this.crowd(fault.for_ms));
      case 'full':
        return this.alone(async () => {
          const { volume } = this.primary;
          volume.fill();
          await sleep(fault.for_ms);
          volume.free();
        });
      default:
        throw new Error(`no store has the fault ${fault.kind}`);
    }
  }

  /** The count is a sequence, which no abort takes back. */
  async abort({ code, table, at_commit, times, for_ms }) {
    await this.primary.sql(`CREATE SEQUENCE aborts; CREATE FUNCTION abort() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF nextval('aborts') <= ${times} THEN RAISE EXCEPTION 'not now' USING ERRCODE = '${code}'; END IF;
      RETURN NEW; END $$; CREATE ${at_commit ? 'CONSTRAINT TRIGGER aborts AFTER' : 'TRIGGER aborts BEFORE'}
      INSERT OR UPDATE ON ${table} ${at_commit ? 'DEFERRABLE INITIALLY DEFERRED' : ''}
      FOR EACH ROW EXECUTE FUNCTION abort();`);
    await sleep(for_ms);
    await this.primary.sql(`DROP TRIGGER aborts ON ${table}; DROP FUNCTION abort; DROP SEQUENCE aborts;`);
  }

  /** Does `work` while the tables have another version, as after a migration, which ends all epochs. */
  migrated(work) {
    return this.alone(async () => {
      const [version] = await this.primary.sql(`SELECT convert_from(value, 'UTF8') FROM meta WHERE name = 'version';`);
      await this.primary.sql(`BEGIN; SELECT one FROM coordinator FOR UPDATE; UPDATE meta SET value = '99'
        WHERE name = 'version'; UPDATE gateway SET state = 0 WHERE state = 1; COMMIT;`);
      await work();
      await this.primary.sql(`UPDATE meta SET value = '${version}' WHERE name = 'version';`);
    });
  }

  async crowd(ms) {
    const crowd = new Crowd(this.primary.port);
    for (const proxy of this.proxies) proxy.refuse(); // so that the gateways come back to a server that has no place
    await crowd.fill();
    for (const proxy of this.proxies) proxy.accept();
    await sleep(ms);
    crowd.leave();
  }

  /** What the database knows, for the report of a violation. */
  knows() {
    return this.primary.sql(`SELECT row_to_json(c)::text FROM (SELECT size, changes, waits FROM coordinator) AS c;
      SELECT row_to_json(g)::text FROM gateway AS g ORDER BY epoch DESC LIMIT 12;
      SELECT row_to_json(a)::text FROM (SELECT pid, application_name, state, xact_start, wait_event, left(query, 60)
        ${CLIENTS}) AS a; SELECT row_to_json(r)::text FROM (SELECT application_name, state, sync_state
        FROM pg_stat_replication) AS r;`);
  }

  /** After the last window: nothing waits for an answer that is to be lost. */
  settle() {
    for (const proxy of this.proxies) proxy.forget();
  }
}

export const STORES = { sqlite: () => new Sqlite(), postgresql: () => new Postgresql() };
