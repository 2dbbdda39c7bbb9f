// draw.mjs - what one window does, drawn from a seed before it begins: the calls of each client and the faults. The
// same seed draws the same window. A fault strikes at an event (the n-th request that is sent, the n-th call that
// reaches the tool server, ...), not at a time, so that a replay strikes at the same place of the run.

export const CLIENTS = 8;
export const BOUNDARIES = 3; // runs that all clients share, so that each gets calls of every gateway

/** Numbers from a text, the same for the same text (mulberry32 over a hash of it). */
export class Random {
  constructor(text) {
    this.state = 0x811c9dc5;
    for (const c of text) this.state = Math.imul(this.state ^ c.codePointAt(0), 0x01000193) >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer, least <= n <= most. */
  int(least, most) {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  chance(share) {
    return this.next() < share;
  }
}

const TOOLS = ['spend', 'spend', 'send', 'note', 'grant'];

function drawCall(random, { window, client, number, gateways }) {
  const tool = random.pick(TOOLS), id = `w${window}-c${client}-${number}`;
  return {
    id, tool, client, key: `key-${id}`, boundary: `run-${random.int(0, BOUNDARIES - 1)}`,
    args: { id, ...(tool === 'spend' ? { amount: random.int(1, 9) } : {}) },
    // of the first attempts; then one after another
    route: Array.from({ length: 6 }, () => random.int(0, gateways - 1)),
    twice: random.chance(0.3), // each attempt goes to two gateways at once
    again: random.chance(0.3), // the client asks once more after the final answer
    vote: random.chance(0.8) ? 'approve' : 'reject',
  };
}

// Each fault in its kind's words; `at`: the event that it waits for.
const EVENTS = ['sent', 'arrived', 'effect', 'answered'];
const OF_A_CALL = new Set(['reset', 'leave']);
const KINDS = {
  /** SIGKILL of a gateway, which starts again. */
  kill: (random) => ({ down_ms: random.pick([0, 0, 20, 100]) }),
  /** An end in order, as of a rolling restart. */
  restart: (random) => ({ down_ms: random.pick([0, 50]) }),
  /** SIGSTOP; `leases`: how much of a lease it lasts. */
  pause: (random) => ({ leases: random.pick([0.02, 0.1, 0.6, 1.3, 1.8]) }),
  /** The clock of a gateway jumps, for a while; forwards for good where that gateway alone has the ledger. */
  clock: (random) => ({ seconds: random.pick([-600, -90, -2, 2, 45, 90, 600]), for_ms: random.pick([20, 200, 800]) }),
  reload: () => ({}),
  /** The connection to the tool server breaks, before the effect or after it. */
  reset: () => ({}),
  /** The client of the event leaves its call. */
  leave: () => ({}),
  // of the database
  cut: () => ({}),
  lose_commit: (random) => ({ skip: random.int(0, 5) }),
  hang: (random) => ({ for_ms: random.pick([50, 500, 3000]) }),
  partition: (random) => ({ for_ms: random.pick([50, 500, 3000]) }),
  slow: (random) => ({ for_ms: random.pick([300, 1000]) }),
  power: (random) => ({ down_ms: random.pick([0, 200, 1500]) }),
  freeze: (random) => ({ for_ms: random.pick([50, 500, 1500]) }),
  failover: () => ({}),
  /** The standby is silent, so that no commit ends. */
  wait: (random) => ({ for_ms: random.pick([50, 500, 3000]) }),
  /** The connections lead to the standby, which only reads. */
  replica: (random) => ({ for_ms: random.pick([50, 500, 1500]) }),
  /** Another session holds the row that every turn locks. */
  lock: (random) => ({ for_ms: random.pick([50, 500, 1500]) }),
  /** An administrator cancels what the gateways run, or ends their connections. */
  cancel: () => ({}),
  terminate: () => ({}),
  /** The server aborts statements of the gateways, or their commits, as it does for concurrent transactions. */
  abort: (random) => ({ code: random.pick(['40001', '40P01']), table: random.pick(['coordinator', 'record', 'claim']),
    at_commit: random.chance(0.5), times: random.int(1, 4), for_ms: random.pick([50, 500]) }),
  /** A second gateway is started under the name of one that runs, and both want to write. */
  twin: (random) => ({ for_ms: random.pick([100, 1000]) }),
  /** The tables get another version while all gateways sleep; then they are of the old one again. */
  migrate: (random) => ({ for_ms: random.pick([100, 1000]) }),
  /** The server has no connection left. */
  crowd: (random) => ({ for_ms: random.pick([50, 500, 1500]) }),
  /** The volume of the data has no byte left. */
  full: (random) => ({ for_ms: random.pick([50, 500, 1500]) }),
};

function drawFault(random, { kinds, gateways }) {
  const kind = random.pick(kinds);
  const event = random.pick(OF_A_CALL.has(kind) ? ['arrived', 'effect'] : EVENTS);
  const fault = { kind, at: { event, nth: random.int(1, 10) }, gateway: random.int(0, gateways - 1),
    // whether the call of the event goes on at the strike, or when the fault has been healed
    release: random.pick(['strike', 'heal']), ...KINDS[kind](random) };
  if (kind === 'restart') fault.release = 'strike'; // an end in order waits for the call
  return fault;
}

/** Everything of one window. kinds: the kinds of faults that the store of the run can have. */
export function drawWindow(seed, window, { gateways, kinds }) {
  const random = new Random(`${seed}/${window}`);
  const calls = Array.from({ length: CLIENTS }, (_, client) => Array.from({ length: random.int(1, 3) }, (_, number) =>
    drawCall(random, { window, client, number, gateways })));
  const faults = Array.from({ length: kinds.length === 0 ? 0 : random.int(1, 3) }, () =>
    drawFault(random, { kinds, gateways }));
  return { seed, window, calls, faults };
}
