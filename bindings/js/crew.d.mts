// Types of crew.mjs. Texts named JSON are JSON texts, and those that come out are canonical; undefined is absent.

export type Json = string;
export type Action = 'talk_to' | 'delegate_to' | 'escalate_to';
/** Why a crew ended before its last phase. */
export type Abort = 'cancelled' | 'timeout' | 'undecided';
export type Status = 'idle' | 'awaiting_responses' | 'completed' | 'aborted';
export type Code =
  | 'unset' | 'invalid' | 'parse' | 'limit' | 'mismatch' | 'absent' | 'busy' | 'no_memory' | 'io' | 'crypto';

export interface Finding {
  code: string;
  /** Schema: a JSON Pointer; lint: a place such as "role.permissions.talk_to". */
  path: string;
}

/** The library refused a call. */
export class WritError extends Error {
  constructor(code: Code, reason: string, text: string, more?: { offset?: number; findings?: Finding[] });
  readonly code: Code;
  /** A word of WRIT_CREW_ERRORS (writ/crew.h), or "closed", "busy". */
  readonly reason: string;
  readonly offset: number;
  readonly findings: Finding[];
}

/** Those of WRIT_CREW_LIMITS (writ/crew.h); what is left out has its default. */
export interface Limits {
  textBytes?: number;
  eventBytes?: number;
  snapshotBytes?: number;
  crewRoles?: number;
  roleAgents?: number;
  crewAgents?: number;
  nesting?: number;
  phaseFixers?: number;
  actionRecursion?: number;
}

/** Freed by close(), or when it is collected; what borrows from it stays usable. */
declare class Owned {
  close(): void;
}

export class Shape extends Owned {
  constructor(json: Json, options?: { limits?: Limits });
  readonly name: string;
  lint(options?: { engines?: Engines }): { errors: Finding[]; warnings: Finding[] };
}

export class Agents extends Owned {
  constructor(json: Json, options?: { limits?: Limits });
}

export interface Agent {
  id: string;
  role: string;
  nested?: { name: string; agents: Agent[] };
}

export class Graph extends Owned {
  constructor(plan: {
    shape: Shape;
    agents: Agents;
    registry?: Record<string, Shape>;
    engines?: Engines;
    limits?: Limits;
    /** The agents elect who does the task, whatever the shape says. */
    consensual?: boolean;
    /** The engine that elects; left out: as the shape says. */
    consensus?: string;
  });
  readonly name: string;
  readonly agents: Agent[];
  allows(from: string, to: string, action: Action): boolean;
}

export function canonical(json: Json, options?: { limits?: Limits }): Json;
/** FNV-1a over the UTF-16 code units, as 16 hex digits. */
export function hash(text: string): string;
export function correlation(parts: { crewId: string; roleId: string; agentId: string; attempt: number }): string;

export interface Entry {
  agentId: string;
  roleId?: string;
  output?: Json;
  fault?: boolean;
  stalled?: boolean;
}

export interface Ballot {
  agentId: string;
  roleId: string;
  output?: Json;
  /** The output as names, best first; absent when it is not an array of different strings. */
  ranking?: string[];
}

export interface Engine {
  name: string;
  about?: string;
  /** Must be deterministic. Nothing: no value. */
  count(
    poll: { ballots: Ballot[]; candidates: string[] },
    explain: (line: string) => void,
  ): { ballot: number } | { candidate: number } | { refuse: true } | undefined;
}

/** Voting engines by name: the built-in ones, and functions. At most 8 functions at one time. */
export class Engines extends Owned {
  add(engine: Engine): { replaced: boolean };
}

/** Counts a vote. `voting`: JSON, an object or the name of a mode in quotes. `value` is absent without a value. */
export function vote(
  voting: Json,
  entries: Entry[],
  options?: { electorate?: number; engines?: Engines },
): { resolved: boolean; value: Json | undefined; why: string };

export function elect(
  engine: string,
  candidates: string[],
  rankings: { voter: string; ranking: string[] }[],
  options?: { engines?: Engines },
): { index: number; winner: string; why: string };

export function prompt(description: string, options: string[]): string;
/** Indexes of options, best first. */
export function parseRanking(answer: string, options: string[]): number[];
export function dispatch(
  roles: string[],
  answers: (string | undefined)[],
  options?: { engine?: string; engines?: Engines },
): { index: number; role: string; why: string };

export interface Scope {
  agentId: string;
  crewId: string;
  roleId: string;
}

/** The reference memory of a crew. */
export class Memory extends Owned {
  constructor(crewId: string);
  apply(scope: Scope, command: Json): void;
  retrieve(scope: Scope & { view?: 'self' | 'role' | 'crew' | 'all' }, options?: Json): Json | undefined;
  snapshot(): Json;
}

/** Insights that agents share. */
export class Pool extends Owned {
  constructor(max: number);
  add(insight: {
    agentId: string;
    content: string;
    segment?: string;
    metadata?: Json;
    tags?: string[];
    importance?: number;
  }): void;
  read(filter?: {
    anyTags?: string[];
    allTags?: string[];
    segment?: string;
    agentId?: string;
    notAgent?: string;
    leastImportance?: number;
    limit?: number;
  }): Json;
  /** Does what an agent requests in JSON (writ_crew_pool_request): {"type": "pool.put", ...}. The caller has
   * authenticated the agent. `insights`: what a put adds, for each other agent that subscribed. */
  request(agentId: string, request: Json): { answer: Json; insights: { agentId: string; insight: Json }[] };
  statistics(): Json;
}

export interface HookCall {
  name: string;
  stage: string;
  crewId?: string;
  roleId?: string;
  agentId?: string;
  input?: Json;
  output?: Json;
  fault?: boolean;
  stalled?: boolean;
}

/** Valid during the call of its hook. */
export interface Control {
  checkpoint(id: string): void;
  request(from: string, to: string, action: Action): boolean;
}

export interface SessionOptions {
  crewId: string;
  graph: Graph;
  /** Milliseconds; Date.now when left out. */
  now?: () => number;
  /** One function, which selects by `name`. */
  hooks?: (call: HookCall, control: Control) => void;
  memory?: Memory;
  limits?: Limits;
  defaultTimeoutMs?: number;
  autoCheckpoint?: boolean;
}

/** One run of a crew. A callback that throws ends the call with its error, and the session is then `broken`. */
export class Session extends Owned {
  constructor(options: SessionOptions);
  static resume(
    options: SessionOptions,
    snapshot: Json,
    more?: { later?: Json[]; policy?: 'abort' | 're-emit-request' | 'treat-as-failed' },
  ): { session: Session; events: Json[] };
  readonly status: Status;
  start(input?: Json, task?: Json): Json[];
  deliver(event: Json): Json[];
  tick(now: number): Json[];
  /** 'undecided': no agent was elected. */
  cancel(reason?: Abort): Json[];
  request(from: string, to: string, action: Action): { allowed: boolean; events: Json[] };
  /** As request, by the agent of an open step, in a nested crew too. A WritError 'absent': no such step is open. */
  act(correlationId: string, to: string, action: Action): { allowed: boolean; events: Json[] };
  pending(): Json[];
  snapshot(): Json;
}
