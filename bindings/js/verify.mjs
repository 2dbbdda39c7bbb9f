// verify.mjs - writ/verify.h for JavaScript: is this credential good for exactly this call?
//
// The addon verify.node is libwrit-verify with the system's OpenSSL. Node.js has an OpenSSL of its own, whose functions
// it exports to addons; RTLD_DEEPBIND keeps the two apart.
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const loaded = { exports: {} };
const { RTLD_NOW, RTLD_DEEPBIND } = constants.dlopen;
process.dlopen(loaded, fileURLToPath(new URL('./verify.node', import.meta.url)), RTLD_NOW | RTLD_DEEPBIND);
const { Verifier: Native } = loaded.exports;

/** The library refused a call and gave no answer: refuse the tool call. */
export class WritError extends Error {
  constructor(code, text, options) {
    super(text, options);
    this.name = 'WritError';
    this.code = code;
  }
}

const CODES = ['invalid', 'parse', 'limit', 'mismatch', 'absent', 'busy', 'no_memory', 'io', 'crypto', 'unset'];
const MEMBERS = ['tool', 'arguments', 'paramsHash', 'audience', 'issuer', 'agentId', 'tenant', 'targetStateDigest',
  'typ', 'anyIssuer', 'anyAgent', 'anyTenant', 'anyTargetState', 'anyArguments', 'nowS', 'skewS', 'lifetimeMaxS',
  'use'];

function wellFormed(text) {
  if (typeof text === 'string' && !text.isWellFormed())
    throw new WritError('parse', 'a text has a surrogate without its other half');
  return text;
}

function translated(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof WritError || !CODES.includes(error?.code)) throw error;
    throw new WritError(error.code, error.message);
  }
}

/** The keys of a gateway, and the check of credentials by them. */
export class Verifier {
  #native = new Native();
  #verifying = false;

  /** The key set may change only when no credential is being verified. */
  #change(work) {
    if (this.#verifying) throw new WritError('busy', 'the verifier is verifying: change its keys after that');
    translated(work);
  }

  keys(jwks) {
    this.#change(() => this.#native.keys(wellFormed(jwks)));
  }

  pin(trusted) {
    this.#change(() => this.#native.pin(wellFormed(trusted)));
  }

  status(token = '') {
    this.#change(() => this.#native.status(wellFormed(token)));
  }

  leftOut() {
    return this.#native.leftOut();
  }

  credential(token, call) {
    if (call === null || typeof call !== 'object') throw new TypeError('the call is not an object');
    // without a prototype, which other code can change: what is not stated is compared
    const members = { __proto__: null, skewS: 0, lifetimeMaxS: 0, nowS: Math.floor(Date.now() / 1000) };
    for (const [name, value] of Object.entries(call)) {
      if (!MEMBERS.includes(name)) throw new TypeError(`a call has no member ${name}`); // a misspelt member would check nothing
      if (value !== undefined) members[name] = wellFormed(value);
    }
    const outer = this.#verifying;
    this.#verifying = true;
    try {
      return translated(() => this.#native.credential(wellFormed(token), members));
    } finally {
      this.#verifying = outer;
    }
  }
}
