// test-client.mjs TOKEN once | TOKEN run STOP - the official SDK's client at the gateway: one allowed and one refused
// call, or allowed calls until the file STOP is there.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
const { resolve } = createRequire('/opt/npm/node_modules/');
const { Client } = await import(resolve('@modelcontextprotocol/sdk/client/index.js'));
const { StreamableHTTPClientTransport } = await import(resolve('@modelcontextprotocol/sdk/client/streamableHttp.js'));

const [token, mode, stop] = process.argv.slice(2);
const client = new Client({ name: 'test', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1:8700/mcp/fs'), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
}));
const read = (path) => client.callTool({ name: 'read_text_file', arguments: { path } });

if (mode === 'once') {
  const { content } = await read('/srv/files/hello.txt');
  if (content[0].text !== 'hello\n') throw new Error(`the tool answered: ${JSON.stringify(content)}`);
  const refused = await read('/etc/passwd').then(() => null, (error) => error);
  if (!/allowlist|argument|refused|not allowed|denied/i.test(refused?.message ?? '')) throw new Error(`not refused: ${refused}`);
  console.log(refused.message);
} else {
  const failures = [];
  let calls = 0, longest = 0;
  console.log('calling');
  while (!existsSync(stop)) {
    const began = performance.now();
    await read('/srv/files/hello.txt').catch((error) => failures.push(error.message));
    longest = Math.max(longest, performance.now() - began);
    calls++;
  }
  for (const failure of failures) console.log(failure);
  console.log(`${calls} calls, ${failures.length} failed, the longest took ${Math.round(longest)} ms`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}
process.exit();
