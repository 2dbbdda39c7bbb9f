// tool-server.mjs - examples/tool-server for one test: the built program on a port of the system.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUD, ISS } from '../js/guard.mjs';
import { until } from '../js/gateway.mjs';
import { send } from '../js/rpc.mjs';

export const TOOL_SERVER = join(process.env.WRIT_BUILD_DIR ?? 'build/dev', 'tests/tool-server');
const JSON_TYPE = { 'content-type': 'application/json' };

class ToolServer {
  constructor(dir, args, program, env) {
    Object.assign(this, { dir, args, program, env, log: '', ids: 0 });
  }

  async start() {
    const from = this.log.length;
    const child = spawn(this.program, this.args,
      { cwd: this.dir, env: { ...process.env, ...this.env }, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    this.exited = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal }))
      .on('error', (error) => resolve({ error })));
    child.stderr.setEncoding('utf8').on('data', (text) => { this.log += text; });
    await until(() => child.exitCode !== null || this.log.slice(from).includes('"ready"'),
      'the tool server to be ready');
    if (child.exitCode !== null) throw new Error(`the tool server did not start: ${this.log}`);
    this.port = JSON.parse(/\{"event":"ready".*\}/.exec(this.log.slice(from))[0]).port;
    this.origin = `http://127.0.0.1:${this.port}`;
    this.url = `${this.origin}/mcp`;
    return this;
  }

  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    return this.exited;
  }

  /** One request straight to the server, past every gateway. */
  post(method, params, headers = {}) {
    return send(this.origin,
      { headers: { ...JSON_TYPE, ...headers }, body: { jsonrpc: '2.0', id: ++this.ids, method, params } });
  }

  /** A tools/call with a credential. */
  call(name, args, token) {
    return this.post('tools/call', { name, arguments: args }, token === undefined ? {} : { 'writ-credential': token });
  }
}

/** A tool server that runs; ends with the test. `keys`: a URL. Another one with the same `dir` has the same
 * database. */
export async function startToolServer(t, keys,
    { dir, program = TOOL_SERVER, env = {}, resource = AUD, issuer = ISS } = {}) {
  const own = dir ?? mkdtempSync(join(tmpdir(), 'writ-tool-server-'));
  if (dir === undefined) t.after(() => rmSync(own, { recursive: true, force: true }));
  const server = new ToolServer(own, ['--database', 'bank.db', '--keys', keys, '--resource', resource, '--issuer',
    issuer, '--listen', '127.0.0.1:0'], program, env);
  t.after(async () => {
    server.child?.kill('SIGKILL');
    await server.exited;
  });
  return server.start();
}
