// guard.mjs - a real `writ guard` for one test, and credentials that a key of the test's own has signed.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BIN, until, writ } from './gateway.mjs';
import { checkLine } from './log-events.mjs';

const npm = createRequire(new URL('../npm/package.json', import.meta.url));
export const jose = await import(pathToFileURL(npm.resolve('jose')));
export const AUD = 'https://tools.example.com/mcp';
export const ISS = 'https://gateway.example.com';

const sort = (v) => Array.isArray(v) ? v.map(sort) : v !== null && typeof v === 'object'
  ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sort(v[k])])) : v;
/** H(x) of values that are canonical but for the order of their members. */
export const digest = (value) => `sha256:${createHash('sha256').update(JSON.stringify(sort(value))).digest('hex')}`;

/** A key, its set, and credentials of it. */
export async function issuer(kid = 'k1') {
  const { publicKey, privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
  const jwks = { keys: [{ ...await jose.exportJWK(publicKey), kid, use: 'sig', alg: 'ES256' }] };
  const mint = (tool, args = {}, change = {}, typ = 'writ-credential+jwt') => {
    const now = Math.floor(Date.now() / 1000);
    const jti = change.jti ?? randomUUID();
    const hash = digest(args);
    const some = digest(jti);
    const claims = {
      iss: ISS, aud: AUD, sub: 'agent-1', iat: now, nbf: now, exp: now + 60, jti, decision_id: jti,
      authorization_details: [{ type: 'mcp_tool_call', tool, locations: [change.aud ?? AUD], params_hash: hash }],
      params_hash: hash, intent_ref: some, intent_digest: some, receipt_ref: some, decision_context_hash: some,
      policy_digest: some, target_state_digest: null, normalized_scope: 's', continuation_id: null,
      idempotency_key: 'k', boundary_id: 'b', seq: 0, tenant: 'acme', ...change,
    };
    return new jose.SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid, typ }).sign(privateKey);
  };
  return { jwks, mint };
}

class Guard {
  constructor(dir, args) {
    this.dir = dir;
    this.args = args;
    this.log = [];
  }

  path(name) {
    return join(this.dir, name);
  }

  async start() {
    const from = this.log.length;
    const child = spawn(BIN, this.args, { cwd: this.dir, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    this.gone = false;
    this.exited = new Promise((resolve) => child.on('exit', (code, signal) => {
      this.gone = true;
      resolve({ code, signal });
    }));
    let rest = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      const own = lines.map((l) => (l.startsWith('{') ? JSON.parse(l) : { event: 'not_json', line: l }));
      this.log.push(...own);
      for (const line of own) if (line.event !== 'not_json') checkLine('guard', line);
    });
    await until(() => this.gone || this.log.slice(from).some((l) => l.event === 'ready'), 'the guard to be ready');
    if (this.gone) throw new Error(`the guard did not start: ${JSON.stringify(this.log)}`);
    this.port = this.log.slice(from).find((l) => l.event === 'listening').port;
    this.origin = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    return this.exited;
  }
}

/** A folder with keys and a file of used credentials, which is some moments old. */
export async function guardFolder(t, jwks) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-guard-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  if (jwks !== undefined) writeFileSync(join(dir, 'jwks.json'), JSON.stringify(jwks));
  const made = writ(['guard', 'init', join(dir, 'used')]);
  if (made.code !== 0) throw new Error(made.err);
  const second = Math.floor(Date.now() / 1000);
  await until(() => Math.floor(Date.now() / 1000) > second, 'the next second');
  return dir;
}

/** Starts a guard that ends with the test. `args`: the form and its own options. */
export async function startGuard(t, dir, args,
    { keys = 'jwks.json', aud = AUD, iss = ISS, listen = '127.0.0.1:0' } = {}) {
  const guard = new Guard(dir,
    ['guard', ...args, '--listen', listen, '--keys', keys, '--aud', aud, '--iss', iss, '--used', 'used']);
  t.after(async () => {
    if (guard.child && !guard.gone) guard.child.kill('SIGKILL');
    await guard.exited;
  });
  return guard.start();
}
