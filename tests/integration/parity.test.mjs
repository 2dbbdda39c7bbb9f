// Real clients get the same through the gateway as directly: the SDKs of both generations, in every mode, and the
// inspector, in front of servers of one protocol family, of the other and of both, over HTTP and over stdio. A refused
// client gets the same refusal.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startGateway } from '../support/js/gateway.mjs';
import { CLIENTS, attempt, words } from '../support/js/parity.mjs';
import { resolve, sdk1 } from '../support/npm/peers.mjs';
import { startTaskServer } from '../support/servers/sdk-tasks.mjs';
import { startSuiteServer } from '../support/servers/suite-server.mjs';

const INSPECTOR = resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
const run = promisify(execFile);

const ERAS = ['both', 'legacy', 'modern'];
const SERVER = fileURLToPath(new URL('../support/servers/suite-server.mjs', import.meta.url));
const TASKS = fileURLToPath(new URL('../support/servers/sdk-tasks.mjs', import.meta.url));

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
const http = {};
let gw;

before(async () => {
  for (const eras of ERAS) http[eras] = await startSuiteServer(scope, { eras });
  const upstreams = ERAS.flatMap((eras) =>
    [[`${eras}-http`, { http: http[eras].url }], [`${eras}-stdio`, { stdio: [process.execPath, SERVER, eras] }]]);
  gw = await startGateway(scope,
    { upstreams: Object.fromEntries(upstreams),
      tools: Object.fromEntries(upstreams.map(([name]) => [`${name}/*`, any])) });
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

/** The server itself, and the same behind the gateway; a client starts the one over stdio itself. */
const itself = (eras, kind) =>
  (kind === 'http' ? { url: http[eras].url } : { command: process.execPath, args: [SERVER, eras], stderr: 'ignore' });
const behind = (eras, kind) => ({ url: `${gw.origin}/mcp/${eras}-${kind}` });

for (const kind of ['http', 'stdio']) {
  for (const eras of ERAS) {
    for (const [name, connect] of Object.entries(CLIENTS)) {
      test(`${name} sees the same server over ${kind}, which speaks ${eras}`, async () => {
        const direct = await attempt(connect, itself(eras, kind));
        const through = await attempt(connect, behind(eras, kind));
        if (direct.refused === undefined) {
          assert.equal(direct.seen.test_simple_text.content[0].text, 'This is a simple text response for testing.');
          assert.match(direct.seen.elicitation.content[0].text, /ada@example\.com/);
        }
        assert.deepEqual(through.seen, direct.seen);
        // the gateway speaks HTTP
        const refused = direct.refused && (await attempt(connect, itself(eras, 'http'))).refused;
        assert.deepEqual(words(through.refused), words(refused));
      });
    }
  }
}

/** The messages that a client of SDK v1 gets from tools that run as tasks, in the form of 2025-11-25; only the server
 * determines ids and times. */
async function tasksSeen(server) {
  const { client, close } = await CLIENTS['SDK v1'](server);
  const { CallToolResultSchema } = await sdk1();
  const { tasks } = client.experimental;
  const plain = (task) => task &&
    { ...task, taskId: typeof task.taskId, createdAt: typeof task.createdAt, lastUpdatedAt: typeof task.lastUpdatedAt };
  const follow = async (name, n) => {
    const seen = [];
    for await (const { type, task, result, error } of tasks.callToolStream({ name, arguments: { n } },
        CallToolResultSchema, { task: { ttl: 60_000 } })) {
      const id = result?._meta?.['io.modelcontextprotocol/related-task']?.taskId;
      seen.push({ type, task: plain(task), result: result && { ...result, _meta: typeof id }, error: error &&
        [error.code, error.message.replace(/[0-9a-f]{32}/, 'ID')] });
    }
    return seen.filter((m) => m.type !== 'taskStatus' || m.task.status !== 'working'); // the number of polls is chance
  };
  const seen = { tools: (await client.listTools()).tools, capabilities: client.getServerCapabilities() };
  seen.double = await follow('double', 21);
  seen.break = await follow('break', 7);
  seen.ask = await follow('ask', 1);
  seen.required = await client.callTool({ name: 'break', arguments: { n: 4 } }).catch((e) => [e.code, e.message]);
  const waits = tasks.callToolStream({ name: 'wait', arguments: { n: 1 } }, CallToolResultSchema,
    { task: { ttl: 60_000 } });
  const { task } = (await waits.next()).value;
  seen.listed = (await tasks.listTasks()).tasks.map((each) => each.status).sort();
  seen.cancelled = plain(await tasks.cancelTask(task.taskId));
  seen.again = await tasks.cancelTask(task.taskId).catch((e) => e.code);
  seen.got = plain(await tasks.getTask(task.taskId));
  await waits.return();
  // the server turns it into a task on its own
  seen.alone = await client.callTool({ name: 'double', arguments: { n: 4 } });
  await close();
  return JSON.parse(JSON.stringify(seen));
}

for (const kind of ['http', 'stdio']) {
  test(`SDK v1 sees the same tasks over ${kind}`, async (t) => {
    const server = kind === 'http'
      ? await startTaskServer(t) : { command: process.execPath, args: [TASKS], stderr: 'ignore' };
    const gateway = await startGateway(t,
      { upstreams: { up: server.url ? { http: server.url } : { stdio: [server.command, ...server.args] } },
        tools: { 'up/*': any } });
    const direct = await tasksSeen(server);
    assert.equal(direct.double.at(-1).result.content[0].text, '42');
    assert.equal(direct.ask.at(-1).result.content[0].text, 'They said Ada');
    assert.deepEqual(await tasksSeen({ url: `${gateway.origin}/mcp/up` }), direct);
    gateway.verify();
  });
}

test('the MCP inspector prints the same through the gateway', async () => {
  const print = async ({ url, command, args }, asked) => {
    const server = url ? [url, '--transport', 'http'] : [command, ...args];
    try {
      return (await run(process.execPath, [INSPECTOR, '--cli', ...server, ...asked])).stdout;
    } catch (error) {
      return { code: error.code, out: error.stdout };
    }
  };
  const asks = [['tools/list'], ['resources/list'], ['tools/call', '--tool-name', 'test_multiple_content_types'],
    ['prompts/get', '--prompt-name', 'test_simple_prompt']];
  for (const kind of ['http', 'stdio']) {
    for (const eras of ERAS) {
      for (const [method, ...rest] of eras === 'both' ? asks : asks.slice(2, 3)) {
        const asked = ['--method', method, ...rest];
        const [direct, through] =
          await Promise.all([print(itself(eras, kind), asked), print(behind(eras, kind), asked)]);
        // it speaks the older family alone
        assert.equal(typeof direct, eras === 'modern' ? 'object' : 'string', JSON.stringify(direct));
        assert.deepEqual(through, direct, `${method} over ${kind}, ${eras}`);
      }
    }
  }
});
