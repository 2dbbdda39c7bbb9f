// crew.mjs - writ/crew.h for JavaScript: the library as WebAssembly (crew.wasm), and classes over it.
//
// 1. A pointer of the module is in one Handle, which counts its owners: an object, and the objects that borrow from it.
//    It is freed when the last one is closed or collected, so nothing borrows what was freed.
// 2. Nothing throws through the module: an error of a callback is kept in the frame of its call, which throws it at its
//    end.
// 3. After a trap the memory of the module is in an unknown state: every later call is refused.
import { readFileSync } from 'node:fs';

const CODES = ['unset', 'ok', 'invalid', 'parse', 'limit', 'mismatch', 'absent', 'busy', 'no_memory', 'io', 'crypto'];
const LIMITS = ['textBytes', 'eventBytes', 'snapshotBytes', 'crewRoles', 'roleAgents', 'crewAgents', 'nesting',
  'phaseFixers', 'actionRecursion'];
const ACTIONS = ['talk_to', 'delegate_to', 'escalate_to'];
const REASONS = ['cancelled', 'timeout', 'undecided'];
const POLICIES = ['abort', 're-emit-request', 'treat-as-failed'];
const STATUSES = ['idle', 'awaiting_responses', 'completed', 'aborted'];
const ENGINES = 8;
const ERR = { error: 0, text: 4, offset: 516, size: 524 };
const OK = 1;

/** The library refused a call. */
export class WritError extends Error {
  constructor(code, reason, text, { offset = 0, findings = [] } = {}) {
    super(text || `${code}: ${reason}`);
    this.name = 'WritError';
    Object.assign(this, { code, reason, offset, findings });
  }
}

// ---- the module, and its memory

const frames = []; // of the calls that run, the innermost last
const sessions = new Map(); // number -> callbacks, while a call with that session runs
const counters = new Array(ENGINES).fill(null);
let stopped = null;

/** Calls what a user gave; an error waits for the end of the call of that frame. */
function callBack(frame, otherwise, work) {
  if (frame.thrown) return otherwise; // one has failed: the call only has to end
  try {
    return work();
  } catch (error) {
    frame.thrown = { error };
    return otherwise;
  }
}

const refusing = () => 8; // no file descriptor of the module is open
const imports = {
  writ: {
    now: (session) => callBack(sessions.get(session).frame, 0, () => {
      const time = sessions.get(session).now();
      if (typeof time !== 'number' || !Number.isFinite(time)) throw new TypeError('now() returned no finite number');
      return time;
    }),
    hook: (session, hook, control) => callBack(sessions.get(session).frame, undefined,
      () => runHook(sessions.get(session).hooks, hook, control)),
    take: (agent, insight) => callBack(frames.at(-1), undefined,
      () => { frames.at(-1).taken.push({ agentId: textAt(agent), insight: textAt(insight) }); }),
    count: (engine, poll, tally) => callBack(frames.at(-1), 1, () => runCount(counters[engine], poll, tally)),
  },
  wasi_snapshot_preview1: {
    environ_get: refusing, environ_sizes_get: refusing, fd_close: refusing, fd_seek: refusing, fd_write: refusing,
    proc_exit: (code) => { throw new WebAssembly.RuntimeError(`exit ${code}`); },
  },
};
const module = new WebAssembly.Module(readFileSync(new URL('./crew.wasm', import.meta.url)));
const { exports } = new WebAssembly.Instance(module, imports);
const { memory } = exports;
const x = Object.fromEntries(Object.entries(exports).filter(([, f]) => typeof f === 'function').map(([name, f]) =>
  [name, (...args) => {
    if (stopped)
      throw new WritError('invalid', 'broken', `the library stopped: ${stopped.message}. Start a new process.`);
    try {
      return f(...args);
    } catch (error) {
      stopped = error; // keeps (3)
      throw error;
    }
  }]));
x._initialize();

const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
const word = (at) => new DataView(memory.buffer).getUint32(at, true);
const put = (at, value) => new DataView(memory.buffer).setUint32(at, value, true);
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function cString(at) {
  let end = at;
  const all = new Uint8Array(memory.buffer);
  while (all[end] !== 0) end++;
  return decoder.decode(all.slice(at, end));
}

/** The text of a view; undefined when it is absent. */
function textAt(view) {
  const at = word(view);
  return at === 0 ? undefined : decoder.decode(bytes(at, word(view + 4)).slice());
}

/** What one call passes, freed at its end. */
class Scratch {
  #blocks = [];

  alloc(size) {
    const at = x.malloc(Math.max(size, 1));
    if (at === 0) throw new WritError('no_memory', 'no_memory', `no memory for ${size} bytes`);
    this.#blocks.push(at);
    bytes(at, size).fill(0);
    return at;
  }

  /** A view in place; absent for undefined. */
  put(at, text, what = 'a text') {
    if (text === undefined || text === null) return;
    if (typeof text !== 'string') throw new TypeError(`${what} is not a string`);
    if (!text.isWellFormed())
      throw new WritError('parse', 'malformed', `${what} has a surrogate without its other half`);
    const raw = encoder.encode(text);
    const copy = this.alloc(raw.length);
    bytes(copy, raw.length).set(raw);
    put(at, copy);
    put(at + 4, raw.length);
  }

  view(text, what) {
    return this.views([text], what);
  }

  views(texts, what) {
    if (!Array.isArray(texts)) throw new TypeError(`${what ?? 'a list'} is not an array`);
    const at = this.alloc(8 * texts.length);
    texts.forEach((text, i) => this.put(at + 8 * i, text, what));
    return at;
  }

  /** A NUL-terminated text that the caller frees. */
  static cString(text) {
    const raw = encoder.encode(text);
    const at = x.malloc(raw.length + 1);
    if (at === 0) throw new WritError('no_memory', 'no_memory', 'no memory');
    bytes(at, raw.length).set(raw);
    bytes(at + raw.length, 1)[0] = 0;
    return at;
  }

  free() {
    if (!stopped) for (const at of this.#blocks) x.free(at);
  }
}

/** One call: `work` gets its scratch memory. Keeps (2). */
function call(work) {
  const frame = { thrown: null, taken: [] };
  const scratch = new Scratch();
  frames.push(frame);
  try {
    const result = work(scratch, frame);
    if (frame.thrown) throw frame.thrown.error;
    return result;
  } catch (error) {
    throw frame.thrown ? frame.thrown.error : error;
  } finally {
    frames.pop();
    scratch.free();
  }
}

function findingsAt(findings) {
  return Array.from({ length: x.writ_crew_findings_count(findings) }, (_, i) => {
    const at = x.writ_crew_findings_at(findings, i);
    return { code: cString(word(at)), path: textAt(at + 4) ?? '' };
  });
}

/** Findings, for `work` and while it runs. */
function withFindings(work) {
  const findings = x.writ_crew_findings_new();
  if (findings === 0) throw new WritError('no_memory', 'no_memory', 'no memory');
  try {
    return work(findings);
  } finally {
    if (!stopped) x.writ_crew_findings_free(findings);
  }
}

function check(code, err, findings = 0) {
  if (code === OK) return;
  const reason = err ? cString(x.writ_crew_error_name(word(err + ERR.error))) : 'none';
  throw new WritError(CODES[code] ?? 'unset', reason, err ? cString(err + ERR.text) : '',
    { offset: err ? word(err + ERR.offset) : 0, findings: findings ? findingsAt(findings) : [] });
}

/** The text of a value, which is freed. */
function takeValue(value) {
  if (value === 0) return undefined;
  const view = x.malloc(8);
  try {
    x.writ_crew_value_text(view, value);
    return textAt(view);
  } finally {
    x.free(view);
    x.writ_crew_value_free(value);
  }
}

/** A struct writ_crew_text, which is freed. */
function takeText(at) {
  const text = textAt(at) ?? '';
  x.writ_crew_text_wipe(at);
  return text;
}

// ---- ownership (1)

class Handle {
  #owners = 1;
  #free;
  #borrowed;

  constructor(pointer, free, borrowed) {
    this.pointer = pointer;
    this.#free = free;
    this.#borrowed = borrowed;
    for (const handle of borrowed) handle.#owners++;
  }

  retain() {
    this.#owners++;
  }

  release() {
    if (--this.#owners > 0 || stopped) return;
    this.#free(this.pointer);
    for (const handle of this.#borrowed) handle.release();
  }
}

const handles = new WeakMap(); // object -> Handle, or null when it is closed
const collected = new FinalizationRegistry((handle) => handle.release());

function own(object, pointer, free, borrowed = []) {
  const handle = new Handle(pointer, free, borrowed);
  handles.set(object, handle);
  collected.register(object, handle, object);
}

/** The handle of an object of that class. */
function handleOf(object, kind) {
  const handle = object instanceof kind ? handles.get(object) : undefined;
  if (handle === undefined) throw new TypeError(`not a ${kind.name}`);
  if (handle === null) throw new WritError('invalid', 'closed', `the ${kind.name} is closed`);
  return handle;
}

const pointerOf = (object, kind) => handleOf(object, kind).pointer;
const optional = (object, kind) => (object === undefined ? 0 : pointerOf(object, kind));

class Owned {
  /** Frees it; later calls throw. What borrows from it stays usable. */
  close() {
    const handle = handles.get(this);
    if (!handle) return;
    handles.set(this, null);
    collected.unregister(this);
    handle.release();
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.close();
  }
}

function natural(value, what) {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff)
    throw new RangeError(`${what} is not a whole number below 2^32`);
  return value;
}

function finite(value, what) {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new RangeError(`${what} is not a finite number`);
  return value;
}

function choice(value, list, what) {
  const at = list.indexOf(value);
  if (at < 0) throw new TypeError(`${what} is none of ${list.join(', ')}`);
  return at;
}

function putLimits(at, limits = {}) {
  x.writ_host_limits(at);
  for (const [name, value] of Object.entries(limits))
    put(at + 4 * choice(name, LIMITS, 'a limit'), natural(value, name));
}

function limitsAt(s, limits) {
  const at = s.alloc(4 * LIMITS.length);
  putLimits(at, limits);
  return at;
}

// ---- shapes, agents, graphs

/** Reads a shape or agents file into the object. */
function readInto(object, json, limits, read, free) {
  call((s) => withFindings((findings) => {
    const ret = s.alloc(4), err = s.alloc(ERR.size);
    if (json === undefined) throw new TypeError('no text');
    check(read(s.view(json, 'the file'), limitsAt(s, limits), findings, ret, err), err, findings);
    own(object, word(ret), free);
  }));
}

export class Shape extends Owned {
  constructor(json, { limits } = {}) {
    super();
    readInto(this, json, limits, x.writ_crew_shape_read, x.writ_crew_shape_free);
  }

  get name() {
    return call((s) => {
      const view = s.alloc(8);
      x.writ_crew_shape_name(view, pointerOf(this, Shape));
      return textAt(view);
    });
  }

  lint({ engines } = {}) {
    return call(() => withFindings((errors) => withFindings((warnings) => {
      check(x.writ_crew_shape_lint(pointerOf(this, Shape), optional(engines, Engines), errors, warnings), 0);
      return { errors: findingsAt(errors), warnings: findingsAt(warnings) };
    })));
  }
}

export class Agents extends Owned {
  constructor(json, { limits } = {}) {
    super();
    readInto(this, json, limits, x.writ_crew_agents_read, x.writ_crew_agents_free);
  }
}

function graphName(s, graph) {
  const view = s.alloc(8);
  x.writ_crew_graph_name(view, graph);
  return textAt(view);
}

function agentsOf(s, graph) {
  return Array.from({ length: x.writ_crew_graph_count(graph) }, (_, i) => {
    const at = s.alloc(20);
    x.writ_crew_graph_agent(at, graph, i);
    const nested = word(at + 16);
    return { id: textAt(at), role: textAt(at + 8),
      ...(nested !== 0 && { nested: { name: graphName(s, nested), agents: agentsOf(s, nested) } }) };
  });
}

export class Graph extends Owned {
  constructor({ shape, agents, registry = {}, engines, limits, consensual = false, consensus }) {
    super();
    call((s) => {
      const borrowed = [handleOf(shape, Shape)];
      if (engines !== undefined) borrowed.push(handleOf(engines, Engines));
      const keys = Object.keys(registry);
      const list = s.alloc(12 * keys.length), ret = s.alloc(4), err = s.alloc(ERR.size);
      keys.forEach((key, i) => {
        const nested = handleOf(registry[key], Shape);
        s.put(list + 12 * i, key, 'a key of the registry');
        put(list + 12 * i + 8, nested.pointer);
        borrowed.push(nested);
      });
      check(x.writ_host_graph(borrowed[0].pointer, pointerOf(agents, Agents), list, keys.length,
        optional(engines, Engines), limitsAt(s, limits), consensual === true, s.view(consensus, 'consensus'), ret,
        err), err);
      own(this, word(ret), x.writ_crew_graph_free, borrowed);
    });
  }

  get name() {
    return call((s) => graphName(s, pointerOf(this, Graph)));
  }

  get agents() {
    return call((s) => agentsOf(s, pointerOf(this, Graph)));
  }

  allows(from, to, action) {
    return call((s) => x.writ_crew_graph_allows(pointerOf(this, Graph), s.view(from, 'from'), s.view(to, 'to'),
      choice(action, ACTIONS, 'the action')) !== 0);
  }
}

// ---- values

/** The canonical form of a JSON text. */
export function canonical(json, { limits } = {}) {
  return call((s) => {
    const ret = s.alloc(4), err = s.alloc(ERR.size);
    check(x.writ_crew_value_read(s.view(json, 'the value'), limitsAt(s, limits), ret, err), err);
    return takeValue(word(ret));
  });
}

export function hash(text) {
  return call((s) => {
    const ret = s.alloc(16);
    x.writ_crew_hash(s.view(text ?? ''), ret);
    return decoder.decode(bytes(ret, 16).slice());
  });
}

export function correlation({ crewId, roleId, agentId, attempt }) {
  return call((s) => {
    const ret = s.alloc(16);
    check(x.writ_crew_correlation(s.view(crewId), s.view(roleId), s.view(agentId), finite(attempt, 'attempt'), ret), 0);
    return decoder.decode(bytes(ret, 16).slice());
  });
}

// ---- voting

const viewsAt = (at, n) => Array.from({ length: n }, (_, i) => textAt(at + 8 * i));

function runCount(count, poll, tally) {
  const ballots = Array.from({ length: word(poll + 4) }, (_, i) => {
    const at = word(poll) + 32 * i, ranking = word(at + 24);
    return { agentId: textAt(at), roleId: textAt(at + 8), output: textAt(at + 16),
      ranking: ranking === 0 ? undefined : viewsAt(ranking, word(at + 28)) };
  });
  const candidates = viewsAt(word(poll + 8), word(poll + 12));
  const explain = (line) => {
    const at = Scratch.cString(String(line).toWellFormed().replaceAll('\0', '\ufffd'));
    x.writ_host_tally_explain(tally, at);
    x.free(at);
  };
  const { ballot, candidate, refuse } = count({ ballots, candidates }, explain) ?? {};
  const chosen = (at, list, what) => {
    if (natural(at, what) < list.length) return at;
    throw new RangeError(`the engine chose a ${what} that is not there`);
  };
  if (ballot !== undefined) x.writ_host_tally_ballot(tally, chosen(ballot, ballots, 'ballot'));
  else if (candidate !== undefined) x.writ_host_tally_candidate(tally, chosen(candidate, candidates, 'candidate'));
  return refuse ? 1 : 0;
}

/** Voting engines by name: the built-in ones, and functions of JavaScript. */
export class Engines extends Owned {
  #slots = [];
  #texts = [];

  constructor() {
    super();
    const pointer = x.writ_crew_engines_new();
    if (pointer === 0) throw new WritError('no_memory', 'no_memory', 'no memory');
    const slots = this.#slots, texts = this.#texts; // not `this`, which could then never be collected
    own(this, pointer, (at) => {
      x.writ_crew_engines_free(at);
      for (const slot of slots) counters[slot] = null;
      for (const text of texts) x.free(text);
    });
  }

  add({ name, about = '', count }) {
    if (typeof count !== 'function') throw new TypeError('count is not a function');
    if (typeof name !== 'string' || typeof about !== 'string' || /\0/.test(name + about))
      throw new TypeError('name or about is not a text without U+0000');
    return call((s) => {
      const engines = pointerOf(this, Engines), slot = counters.indexOf(null);
      if (slot < 0)
        throw new WritError('limit', 'limit_exceeded', `at most ${ENGINES} engines at one time. Close others.`);
      const mine = [Scratch.cString(name), Scratch.cString(about)];
      const replaced = s.alloc(4), err = s.alloc(ERR.size);
      try {
        check(x.writ_crew_engines_add(engines, x.writ_host_engine(slot, ...mine), replaced, err), err);
      } catch (error) {
        if (!stopped) mine.forEach((at) => x.free(at));
        throw error;
      }
      counters[slot] = count;
      this.#slots.push(slot);
      this.#texts.push(...mine);
      return { replaced: bytes(replaced, 1)[0] !== 0 };
    });
  }
}

/** Counts a vote. `voting`: JSON, an object or the name of a mode in quotes. */
export function vote(voting, entries, { electorate = entries.length, engines } = {}) {
  return call((s) => withFindings((faults) => {
    const ret = s.alloc(4), err = s.alloc(ERR.size), verdict = s.alloc(16), list = s.alloc(28 * entries.length);
    entries.forEach((entry, i) => {
      const at = list + 28 * i;
      s.put(at, entry.agentId, 'agentId');
      s.put(at + 8, entry.roleId, 'roleId');
      if (entry.output !== undefined) s.put(at + 16, canonical(entry.output), 'output');
      bytes(at + 24, 2).set([entry.fault ? 1 : 0, entry.stalled ? 1 : 0]);
    });
    check(x.writ_crew_voting_read(s.view(voting, 'voting'), faults, ret, err), err, faults);
    try {
      check(x.writ_crew_vote(word(ret), optional(engines, Engines), list, entries.length,
        natural(electorate, 'electorate'), verdict, err), err);
    } finally {
      if (!stopped) x.writ_crew_voting_free(word(ret));
    }
    const resolved = bytes(verdict, 1)[0] !== 0, value = x.writ_crew_value_ref(word(verdict + 4));
    const why = textAt(verdict + 8) ?? '';
    x.writ_crew_verdict_wipe(verdict);
    return { resolved, value: takeValue(value), why };
  }));
}

/** Elects one of the candidates by rankings, each {voter, ranking}. */
export function elect(engine, candidates, rankings, { engines } = {}) {
  return call((s) => {
    const list = s.alloc(16 * rankings.length), ret = s.alloc(4), why = s.alloc(8), err = s.alloc(ERR.size);
    rankings.forEach(({ voter, ranking }, i) => {
      s.put(list + 16 * i, voter, 'a voter');
      put(list + 16 * i + 8, s.views(ranking, 'a ranking'));
      put(list + 16 * i + 12, ranking.length);
    });
    check(x.writ_crew_elect(s.view(engine, 'engine'), optional(engines, Engines), s.views(candidates, 'candidates'),
      candidates.length, list, rankings.length, ret, why, err), err);
    return { index: word(ret), winner: candidates[word(ret)], why: takeText(why) };
  });
}

export function prompt(description, options) {
  return call((s) => {
    const ret = s.alloc(8);
    check(x.writ_crew_prompt(s.view(description, 'the description'), s.views(options, 'options'), options.length, ret),
      0);
    return takeText(ret);
  });
}

/** The ranking of an answer: indexes of options, best first. */
export function parseRanking(answer, options) {
  return call((s) => {
    const ret = s.alloc(4 * options.length);
    check(x.writ_crew_prompt_parse(s.view(answer, 'the answer'), s.views(options, 'options'), options.length, ret), 0);
    return Array.from({ length: options.length }, (_, i) => word(ret + 4 * i));
  });
}

export function dispatch(roles, answers, { engine = '', engines } = {}) {
  if (roles.length !== answers.length) throw new RangeError('one answer for each role');
  return call((s) => {
    const ret = s.alloc(4), why = s.alloc(8), err = s.alloc(ERR.size);
    check(x.writ_crew_dispatch(s.views(roles, 'roles'), s.views(answers, 'answers'), roles.length,
      s.view(engine, 'engine'), optional(engines, Engines), ret, why, err), err);
    return { index: word(ret), role: roles[word(ret)], why: takeText(why) };
  });
}

// ---- memory

/** The reference memory of a crew. */
export class Memory extends Owned {
  constructor(crewId) {
    super();
    call((s) => {
      const at = x.malloc(8);
      const code = at === 0 ? CODES.indexOf('no_memory') : x.writ_crew_memory_new(s.view(crewId, 'crewId'), at);
      if (code !== OK && at !== 0) x.free(at);
      check(code, 0);
      own(this, at, x.writ_host_memory_free);
    });
  }

  apply({ agentId, crewId, roleId }, command) {
    call((s) => check(x.writ_host_memory_apply(pointerOf(this, Memory), s.views([agentId, crewId, roleId]),
      s.view(canonical(command), 'the command')), 0));
  }

  retrieve({ agentId, crewId, roleId, view = 'self' }, options) {
    return call((s) => {
      const ret = s.alloc(4);
      check(x.writ_host_memory_retrieve(pointerOf(this, Memory), s.views([agentId, crewId, roleId, view]),
        s.view(options === undefined ? undefined : canonical(options), 'options'), ret), 0);
      return takeValue(word(ret));
    });
  }

  snapshot() {
    return call((s) => {
      const ret = s.alloc(4);
      check(x.writ_host_memory_snapshot(pointerOf(this, Memory), ret), 0);
      return takeValue(word(ret));
    });
  }
}

/** Insights that agents share. */
export class Pool extends Owned {
  constructor(max) {
    super();
    const pointer = x.writ_crew_pool_new(natural(max, 'max'));
    if (pointer === 0) throw new WritError('no_memory', 'no_memory', 'no memory');
    own(this, pointer, x.writ_crew_pool_free);
  }

  add({ agentId, content, segment = '', metadata, tags = [], importance = 0 }) {
    call((s) => {
      const err = s.alloc(ERR.size);
      check(x.writ_host_pool_add(pointerOf(this, Pool), s.views([agentId, content, segment, metadata]),
        s.views(tags, 'tags'), tags.length, finite(importance, 'importance'), err), err);
    });
  }

  read({ anyTags = [], allTags = [], segment, agentId, notAgent, leastImportance, limit = 0 } = {}) {
    return call((s) => {
      const ret = s.alloc(4);
      check(x.writ_host_pool_read(pointerOf(this, Pool), s.views(anyTags, 'anyTags'), anyTags.length,
        s.views(allTags, 'allTags'), allTags.length, s.views([segment, agentId, notAgent]),
        leastImportance !== undefined ? 1 : 0,
        leastImportance === undefined ? 0 : finite(leastImportance, 'leastImportance'), natural(limit, 'limit'), ret),
      0);
      return takeValue(word(ret));
    });
  }

  /** Does what an agent requests in JSON: the answer, and what others get of it that subscribed. */
  request(agentId, request) {
    return call((s, frame) => {
      const ret = s.alloc(4), err = s.alloc(ERR.size);
      check(x.writ_host_pool_request(pointerOf(this, Pool), s.view(agentId, 'agentId'), s.view(request, 'the request'),
        ret, err), err);
      return { answer: takeValue(word(ret)), insights: frame.taken };
    });
  }

  statistics() {
    return call((s) => {
      const ret = s.alloc(4);
      check(x.writ_crew_pool_statistics(pointerOf(this, Pool), ret), 0);
      return takeValue(word(ret));
    });
  }
}

// ---- sessions

function flag(at) {
  const value = new DataView(memory.buffer).getInt32(at, true);
  return value < 0 ? undefined : value > 0;
}

function runHook(hooks, at, control) {
  let valid = true;
  const during = (work) => {
    if (!valid) throw new WritError('invalid', 'closed', 'a control is valid during the call of its hook');
    return call(work);
  };
  const [name, stage, crewId, roleId, agentId, input, output] = viewsAt(at, 7);
  try {
    hooks({ name, stage, crewId, roleId, agentId, input, output, fault: flag(at + 56), stalled: flag(at + 60) }, {
      checkpoint: (id) => during((s) => { x.writ_crew_control_checkpoint(control, s.view(id, 'id')); }),
      request: (from, to, action) => during((s) => x.writ_crew_control_request(control, s.view(from, 'from'),
        s.view(to, 'to'), choice(action, ACTIONS, 'the action')) !== 0),
    });
  } finally {
    valid = false;
  }
}

let numbered = 0;

/** One run of a crew. */
export class Session extends Owned {
  #state;
  #resumed;

  constructor(options, from) {
    super();
    const { now = Date.now, hooks } = options;
    if (typeof now !== 'function' || (hooks !== undefined && typeof hooks !== 'function'))
      throw new TypeError('now or hooks is not a function');
    this.#state = { number: (numbered = (numbered % 0x7fffffff) + 1), now, hooks, busy: false, broken: false };
    this.#resumed = this.#during((s) => this.#make(s, options, from));
  }

  /** A session that continues from a snapshot, and the events of that. */
  static resume(options, snapshot, { later = [], policy = 'abort' } = {}) {
    const session = new Session(options, { snapshot, later, policy: choice(policy, POLICIES, 'the policy') });
    return { session, events: session.#resumed };
  }

  #make(s, { crewId, graph, hooks, memory: kept, limits, defaultTimeoutMs, autoCheckpoint = false }, from) {
    const borrowed = [handleOf(graph, Graph)];
    if (kept !== undefined) borrowed.push(handleOf(kept, Memory));
    const block = x.malloc(8 + 4 * LIMITS.length); // hooks and limits live as long as the session, which borrows them
    if (block === 0) throw new WritError('no_memory', 'no_memory', 'no memory');
    try {
      const ret = s.alloc(4), err = s.alloc(ERR.size), events = s.alloc(8);
      const id = s.view(crewId, 'crewId'), limit = block + 8;
      putLimits(limit, limits);
      const timeout = defaultTimeoutMs === undefined ? 0 : finite(defaultTimeoutMs, 'defaultTimeoutMs');
      const snapshot = from && s.view(from.snapshot, 'the snapshot'), later = from && s.views(from.later, 'an event');
      const made = x.writ_host_options(this.#state.number, id, borrowed[0].pointer, block, hooks !== undefined ? 1 : 0,
        kept === undefined ? 0 : borrowed[1].pointer, limit, defaultTimeoutMs !== undefined ? 1 : 0, timeout,
        autoCheckpoint ? 1 : 0);
      if (from) {
        check(x.writ_crew_session_resume(made, snapshot, later, from.later.length, from.policy, ret, events, err), err);
      } else {
        check(x.writ_crew_session_new(made, ret, err), err);
      }
      own(this, word(ret), (at) => { x.writ_crew_session_free(at); x.free(block); }, borrowed);
      return from && viewsAt(word(events), word(events + 4));
    } catch (error) {
      if (!stopped) x.free(block);
      throw error;
    }
  }

  /** One call with this session, whose callbacks are known while it runs. */
  #during(work) {
    const state = this.#state, handle = handles.get(this);
    if (state.busy) throw new WritError('busy', 'busy', 'the session is in a call: use the control of the hook');
    if (state.broken)
      throw new WritError('invalid', 'broken', 'a callback failed in an earlier call: resume from the last snapshot');
    handle?.retain(); // a hook may close the session
    state.busy = true;
    sessions.set(state.number, state);
    try {
      return call((s, frame) => {
        state.frame = frame;
        try {
          return work(s);
        } finally {
          state.broken ||= frame.thrown !== null;
        }
      });
    } finally {
      sessions.delete(state.number);
      state.busy = false;
      handle?.release();
    }
  }

  /** A call that gives events. */
  #events(work) {
    const session = pointerOf(this, Session);
    return this.#during((s) => {
      const events = s.alloc(8), err = s.alloc(ERR.size);
      check(work(session, s, events, err), err);
      return viewsAt(word(events), word(events + 4));
    });
  }

  get status() {
    return STATUSES[x.writ_crew_session_status(pointerOf(this, Session))];
  }

  start(input, task) {
    return this.#events((session, s, events, err) =>
      x.writ_crew_session_start(session, s.view(input, 'input'), s.view(task, 'task'), events, err));
  }

  deliver(event) {
    return this.#events((session, s, events, err) =>
      x.writ_crew_session_deliver(session, s.view(event, 'the event'), events, err));
  }

  tick(now) {
    return this.#events((session, s, events, err) =>
      x.writ_crew_session_tick(session, finite(now, 'now'), events, err));
  }

  cancel(reason = 'cancelled') {
    return this.#events((session, s, events, err) =>
      x.writ_crew_session_cancel(session, choice(reason, REASONS, 'the reason'), events, err));
  }

  /** `ask` of the library, for the agent or the step that `who` names. */
  #permission(ask, who, what, to, action) {
    let allowed;
    const events = this.#events((session, s, ret, err) => {
      const at = s.alloc(4);
      const code = ask(session, s.view(who, what), s.view(to, 'to'), choice(action, ACTIONS, 'the action'), at, ret,
        err);
      allowed = bytes(at, 1)[0] !== 0;
      return code;
    });
    return { allowed, events };
  }

  request(from, to, action) {
    return this.#permission(x.writ_crew_session_request, from, 'from', to, action);
  }

  /** As request, by the agent of an open step, whose correlation id only its worker has. */
  act(correlationId, to, action) {
    return this.#permission(x.writ_crew_session_act, correlationId, 'correlationId', to, action);
  }

  pending() {
    return this.#events((session, s, events, err) => x.writ_crew_session_pending(session, events, err));
  }

  snapshot() {
    const session = pointerOf(this, Session);
    return this.#during((s) => {
      const ret = s.alloc(4), err = s.alloc(ERR.size);
      check(x.writ_crew_session_snapshot(session, ret, err), err);
      return takeValue(word(ret));
    });
  }
}
