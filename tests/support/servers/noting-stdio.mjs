// noting-stdio.mjs RECORD COMMAND [ARGUMENT]... - runs a tool server over stdio; each call that reaches it is a line of
// the file RECORD.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [record, ...command] = process.argv.slice(2);
const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'inherit', 'inherit'] });
child.on('close', (code) => process.exit(code ?? 1));
child.stdin.on('error', () => {});
createInterface({ input: process.stdin }).on('line', (line) => {
  const { method, params } = JSON.parse(line);
  if (method === 'tools/call') appendFileSync(record, `${JSON.stringify([params.name, params.arguments])}\n`);
  child.stdin.write(`${line}\n`);
}).on('close', () => {
  child.stdin.end();
  child.kill(); // one that keeps a connection would not end by itself
});
process.on('SIGTERM', () => child.kill());
