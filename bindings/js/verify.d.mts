// Types of verify.mjs.

/** The library refused a call, and there is no answer: refuse the tool call. */
export class WritError extends Error {
  constructor(code: string, text: string, options?: ErrorOptions);
  /** The kind of the failure: "invalid", "parse", "limit", "mismatch", "absent", "busy", "io", ... */
  readonly code: string;
}

/** The call as it arrived, and its expected sender: struct writ_verify_call of writ/verify.h. */
export interface Call {
  tool: string;
  /** The JSON text of an object; left out: {} */
  arguments?: string;
  paramsHash?: string;
  audience: string;
  issuer?: string;
  agentId?: string;
  tenant?: string;
  targetStateDigest?: string;
  typ?: string;
  anyIssuer?: boolean;
  anyAgent?: boolean;
  anyTenant?: boolean;
  anyTargetState?: boolean;
  anyArguments?: boolean;
  /** Seconds since 1970; now when left out. */
  nowS?: number;
  skewS?: number;
  lifetimeMaxS?: number;
  /** Remembers a jti in one atomic step, at least until `untilS`. An error of it is thrown, and refuses. */
  use?: (jti: string, untilS: number) => 'fresh' | 'spent';
}

export interface Refusal {
  ok: false;
  reason: string;
  sentence: string;
  hint: string;
}

export interface Good {
  ok: true;
  reason: 'ok';
  sentence: string;
  hint: string;
  jti: string;
  issuer: string;
  agentId: string;
  tenant: string | null;
  subject: string | null;
  paramsHash: string;
  targetStateDigest: string | null;
  normalizedScope: string | null;
  idempotencyKey: string | null;
  boundaryId: string | null;
  issuedAtS: number;
  expiresAtS: number;
}

/** The keys of a gateway, and the check of credentials by them. */
export class Verifier {
  keys(jwks: string): void;
  pin(trusted: string): void;
  status(token?: string): void;
  leftOut(): { count: number; why: string };
  credential(token: string, call: Call): Good | Refusal;
}
