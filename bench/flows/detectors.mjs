#!/usr/bin/env node
// What the built-in detectors find in honest results and definitions: the table of docs/detectors.md.
//
//     bench/flows/detectors.mjs build/dev/bench/micro_detect
//
// The values: results of the honest tasks and definitions of vectors/flows/agentdojo, and the definitions that the
// official npm servers below tests/support/npm list over stdio without a network.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DATA = `${ROOT}vectors/flows/agentdojo/`;
const SCOPE = `${ROOT}tests/support/npm/node_modules/@modelcontextprotocol/`;
const SERVERS = ['brave-search', 'everything', 'filesystem', 'github', 'gitlab', 'google-maps', 'memory',
  'sequential-thinking', 'slack'];
const KEYS = ['BRAVE_API_KEY', 'GITHUB_PERSONAL_ACCESS_TOKEN', 'GITLAB_PERSONAL_ACCESS_TOKEN', 'GOOGLE_MAPS_API_KEY',
  'SLACK_BOT_TOKEN', 'SLACK_TEAM_ID'];
const lines = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const suites = readdirSync(DATA, { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name);

function honestResults(suite) {
  const wanted = new Set(lines(`${DATA}${suite}/tasks.jsonl`).flatMap((task) => task.calls.map((call) => call.result)));
  return lines(`${DATA}${suite}/results.jsonl`).filter((r) => wanted.has(r.id)).map(({ id, ...rest }) => rest);
}

async function listed(server) {
  const home = `${SCOPE}server-${server}/`;
  const { bin } = JSON.parse(readFileSync(`${home}package.json`));
  const child = spawn(process.execPath,
    [home + Object.values(bin)[0], ...(server === 'filesystem' ? [tmpdir()] : [])], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...Object.fromEntries(KEYS.map((key) => [key, 'none'])) } });
  for (const message of [{ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {},
    clientInfo: { name: 'bench', version: '1' } } }, { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' }]) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    const answer = line.startsWith('{') ? JSON.parse(line) : {};
    if (answer.id !== 2 || !answer.result) continue;
    child.kill();
    return answer.result.tools;
  }
  throw new Error(`server-${server} lists no tools`);
}

function count(values) {
  const run = spawnSync(process.argv[2], [], { input: values.map((v) => `${JSON.stringify(v)}\n`).join(''),
    encoding: 'utf8', maxBuffer: 1 << 26 });
  if (run.status !== 0) throw new Error(run.stderr);
  return Object.fromEntries(run.stdout.trim().split('\n').map((line) => line.split(' ')));
}

const columns = [suites.flatMap(honestResults),
  suites.flatMap((suite) => JSON.parse(readFileSync(`${DATA}${suite}/tools.json`)).tools),
  (await Promise.all(SERVERS.map(listed))).flat()].map(count);
const names = [...new Set(columns.flatMap(Object.keys))].filter((name) => name !== 'values').sort();
console.log(`| detector | honest results, of ${columns[0].values} | benchmark's definitions, of ${columns[1].values} | ` +
  `official servers' definitions, of ${columns[2].values} |\n| --- | --- | --- | --- |`);
for (const name of names) console.log(`| \`${name}\` | ${columns.map((c) => c[name] ?? 0).join(' | ')} |`);
