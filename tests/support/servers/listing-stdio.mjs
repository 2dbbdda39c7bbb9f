#!/usr/bin/env node
// listing-stdio.mjs FILE [MEMBER] - an MCP server over stdio that lists the definitions in FILE, a JSON array or the
// array MEMBER of an object, whose elements are definitions or {definition}. It is asked for nothing else.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const tools = (process.argv[3] ? file[process.argv[3]] : file).map((one) => one.definition ?? one);
const answers = {
  initialize: (params) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'listing', version: '1' }, instructions: file.instructions }),
  'tools/list': () => ({ tools }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method] ? { result: answers[method](params) }
    : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
