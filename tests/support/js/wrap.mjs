// wrap.mjs - clients of `writ wrap`: a raw one that says what a test wants, line by line, and the
// processes behind it.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { BIN, linesOf, until } from './gateway.mjs';

export const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';

/** A started wrap that is spoken to in lines. */
export class Wrap {
  constructor(args, { env = {}, cwd } = {}) {
    this.child = spawn(BIN, ['wrap', ...args], { cwd, env: { ...process.env, ...env } });
    this.said = '';
    this.messages = [];
    this.raw = [];
    this.id = 0;
    this.child.stderr.setEncoding('utf8').on('data', (d) => { this.said += d; });
    this.child.stdin.on('error', () => {});
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.raw.push(line);
      this.messages.push(JSON.parse(line)); // standard output carries MCP alone
    });
    this.exited = new Promise((resolve) => {
      this.child.on('close', (code, signal) => { this.gone = { code, signal }; resolve(this.gone); });
    });
  }

  send(message) {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  /** The answer to a request with this id; also when the wrap has ended before. */
  async answer(id) {
    await until(() => this.gone || this.messages.some((m) => m.id === id && m.method === undefined),
      `an answer to ${id}`);
    return this.messages.find((m) => m.id === id && m.method === undefined);
  }

  ask(method, params, id = ++this.id) {
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.answer(id);
  }

  async open(capabilities = {}, version = LEGACY) {
    const opened = await this.ask('initialize',
      { protocolVersion: version, capabilities, clientInfo: { name: 'raw', version: '1' } });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return opened;
  }

  call(name, args, id) {
    return this.ask('tools/call', { name, arguments: args }, id);
  }

  /** The client's orderly end. */
  end() {
    this.child.stdin.end();
    return this.exited;
  }

  kill(signal = 'SIGKILL') {
    this.child.kill(signal);
    return this.exited;
  }
}

/** The processes that run `writ serve` with this configuration. */
export function gateways(config) {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      const [, command, file] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return command === 'serve' && file === config && readlinkSync(`/proc/${pid}/exe`) !== '';
    } catch {
      return false;
    }
  }).map(Number);
}

/** Whether a process has closed all that it had: it loses its name before its sockets, and threads end one by one. */
function isGone(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).length === 1 &&
      /^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1));
  } catch {
    return true;
  }
}

/** Ends the gateways of a configuration and waits until they are gone; a wrap may have started another. */
export async function endGateways(config, signal = 'SIGKILL') {
  const pids = gateways(config);
  for (const pid of pids) process.kill(pid, signal);
  await until(() => pids.every(isGone), 'the gateway to end');
}

/** The events of a gateway that a wrap started. */
export const eventsOf = (dir) => linesOf(join(dir, 'writ.sock.log')).map((line) => JSON.parse(line));
