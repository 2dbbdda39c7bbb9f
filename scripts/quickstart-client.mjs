// quickstart-client.mjs ready URL PID | calls URL SANDBOX - the client of scripts/quickstart.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('npm/package.json', import.meta.url));
const load = async name => import(pathToFileURL(require.resolve(name)));
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

// Waits until the gateway reports that its ledger and its upstreams are ready.
async function ready(url, pid) {
  for (let i = 0; i < 300; i++) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // not listening yet
    }
    try {
      process.kill(Number(pid), 0);
    } catch {
      console.error('the gateway has ended; the end of its log:');
      process.exit(1);
    }
    await sleep(100);
  }
  throw new Error(`not ready after 30 s: ${url}`);
}

function show(what, outcome) {
  console.log(`\n${what}`);
  console.log(`   ${outcome}`);
}

async function attempt(client, what, name, args) {
  try {
    const result = await client.callTool({ name, arguments: args });
    show(what, `answered: ${result.content?.[0]?.text ?? JSON.stringify(result)}`);
    return 'answered';
  } catch (error) {
    const { reason, constraint, accepted, first_decision_id, first_outcome } = error.data ?? {};
    show(what, `refused: ${reason ?? error.message}` +
      (constraint ? ` (${constraint}; accepted: ${accepted})` : '') +
      (first_decision_id ? ` (first call ${first_decision_id}: ${first_outcome})` : ''));
    return reason ?? 'failed';
  }
}

async function calls(url, sandbox) {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } =
    await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client({ name: 'quickstart', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);

  const { tools } = await client.listTools();
  console.log(`tools that this agent may call: ${tools.map(tool => tool.name).join(', ')}`);

  const file = `${sandbox}/hello.txt`;
  const write = { path: file, content: `written at ${new Date().toISOString()}\n` };
  const got = [
    await attempt(client, 'write a file inside the sandbox', 'fs__write_file', write),
    await attempt(client, 'write a file outside of it', 'fs__write_file',
      { path: '/etc/hello.txt', content: 'x' }),
    await attempt(client, 'the first call once more, as a retry would', 'fs__write_file', write),
  ];
  await transport.terminateSession(); // the gateway seals the session's records
  await client.close();
  const wanted = ['answered', 'constraint_failed', 'duplicate_outcome'];
  if (String(got) !== String(wanted)) throw new Error(`expected ${wanted}, got ${got}`);
}

const [command, ...args] = process.argv.slice(2);
await { ready, calls }[command](...args);
