// newcomer-client.mjs BLOCK TOOL PATH - the official SDK's client with the block that `writ init` printed: one call of
// TOOL. Prints the tool's text, or the refusal.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [block, name, path] = process.argv.slice(2);
const { url, headers } = JSON.parse(readFileSync(block, 'utf8')).mcpServers.writ;
const client = new Client({ name: 'newcomer', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
await client.callTool({ name, arguments: { path } }).then(
  ({ content }) => console.log(`answered: ${content[0].text}`),
  ({ message, data }) => console.log(`refused: ${message}\ndecision: ${data?.decision_id}`));
await client.close();
