// `writ crew dispatch` and consensual crews; the pool, actions and hooks of `writ crew run`; plain tasks.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { folder, lines, put, random, role, run, worker, writ } from '../support/js/crews.mjs';
import { install } from '../support/js/installation.mjs';

const source = process.env.WRIT_SOURCE_DIR;
const ELECTIONS = Number(process.env.WRIT_CREW_ELECTIONS ?? 600); // of each engine
const TEAM = { schema_version: '1.0', name: 'team', process: 'consensual',
  roles: [role('author', 1), role('tester', 1), role('writer', 1)] };

// A member of TEAM in another language each.
const members = (dir) => {
  const js = worker(dir,
    `if (e.type === 'agent.step.requested') answer(e.input.ballot ? ['tester', 'writer'] : 'js: ' + e.input.task);`);
  const py = put(dir, 'member.py', `import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if e["type"] == "agent.step.requested":
        out = "I would say writer, or the author" if "ballot" in e["input"] else "py: " + e["input"]["task"]
        print(json.dumps({"type": "agent.step.completed", "correlationId": e["correlationId"], "output": out}),
          flush=True)
`);
  const sh = put(dir, 'member.sh', `while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"correlationId":"\\([0-9a-f]*\\)".*/\\1/')
  case $line in
    *'"ballot"'*) out='["tester","author"]' ;;
    *) out='"sh"' ;;
  esac
  echo "{\\"type\\":\\"agent.step.completed\\",\\"correlationId\\":\\"$id\\",\\"output\\":$out}"
done
`);
  return put(dir, 'members.sh', `read -r first
case $first in
  *'"agentId":"author-1"'*) set -- ${js} ;;
  *'"agentId":"tester-1"'*) set -- python3 ${py} ;;
  *) set -- sh ${sh} ;;
esac
{ printf '%s\\n' "$first"; exec cat; } | "$@"
`);
};

test('members in three languages rank each other, and the elected one does the task', () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', TEAM);
  const ran = run('dispatch', 'repair it', '--shape', shape, '--agents', `sh ${members(dir)}`, '--log', log, '--json');
  assert.equal(ran.status, 0, ran.stderr);
  assert.deepEqual(JSON.parse(ran.stdout),
    { events: 13, handler: 'tester-1', output: 'py: repair it', status: 'completed' });
  assert.match(run('replay', log).stdout, /^identical: 13 events/);
  const requests = lines(log).filter(({ type }) => type === 'agent.step.requested');
  assert.match(requests[0].input.prompt, /<task>repair it<\/task>/);
  assert.deepEqual(requests.map(({ input }) => input.ballot),
    [['tester', 'writer'], ['author', 'writer'], ['author', 'tester'], undefined]);
  assert.equal(run('ballots', log).stdout, [
    'task "repair it", by majority',
    '  voter   ranking',
    '  author  tester > writer > author',
    '  tester  writer > author > tester',
    '  writer  tester > author > writer',
    '  elected: tester-1',
    '    author: 0 first places', '    tester: 2 first places', '    writer: 1 first places', '',
  ].join('\n'));
  const [table] = JSON.parse(run('ballots', log, '--json').stdout).elections;
  assert.deepEqual(table.ballots[1], { voter: 'tester', ranking: ['writer', 'author', 'tester'] });
  // a forged ballot, and a forged result, do not replay
  for (const [from, to] of [['"ranking":["tester","author","writer"]', '"ranking":["author","tester","writer"]'],
    ['"agentId":"tester-1","crewId"', '"agentId":"author-1","crewId"'], ['2 first places', '3 first places']]) {
    const forged = readFileSync(log, 'utf8').replace(from, to);
    assert.notEqual(forged, readFileSync(log, 'utf8'));
    assert.match(run('replay', put(dir, 'forged', forged)).stdout, /different\n$/);
  }
});

test('answers that cannot be read, fail, come late or name themselves are what they are', () => {
  const dir = folder(), log = join(dir, 'log');
  const five = { ...TEAM, roles: ['a', 'b', 'c', 'd', 'e'].map((name) => role(name, 1)) };
  const shape = put(dir, 'shape.json', five);
  const script = (answers) => put(dir, 'answers.json', { answers });
  const ballot = ['a', 'c', 'd', 'e'];
  const unread = { a: [{ output: 'whoever' }], b: [{ output: ballot }], c: [{ failed: 'no model' }],
    d: [{ silent: true }],
    e: [{ output: ['e', 'a', 'b', 'c'] }] };
  const lost = run('dispatch', 't', '--shape', shape, '--agents', script(unread), '--log', log);
  assert.equal(lost.status, 1);
  assert.match(lost.stdout,
    /no agent is elected: "1 of 5 agents gave a ranking that can be read"\naborted: "undecided"\n$/);
  assert.equal(run('replay', log).status, 0);
  const table = run('ballots', log);
  assert.equal(table.status, 0);
  assert.match(table.stdout,
    / {2}a {6}\(no ranking in the answer\)\n {2}b {6}a > c > d > e > b\n {2}c {6}\(no model\)\n {2}d {6}\(late\)\n {2}e {6}\(no ranking in the answer\)\n {2}no agent is elected\n/);
  // half is enough; two candidates have as many first places: the first one in the shape
  const four = put(dir, 'four.json', { ...TEAM, roles: five.roles.slice(0, 4) });
  const half = { a: [{ output: 'x' }, { output: 'done' }], b: [{ output: ['d', 'a', 'c'] }], c: [{ output: 'a b d' }],
    d: [{ failed: 'x' }] };
  const won = run('dispatch', 't', '--shape', four, '--agents', script(half), '--json');
  assert.deepEqual([JSON.parse(won.stdout).handler, JSON.parse(won.stdout).output], ['a-1', 'done'], won.stderr);
});

test('a task with a handler is not put to the vote, and tasks of a list follow each other', () => {
  const dir = folder(), log = join(dir, 'log');
  const script = put(dir, 'answers.json', { answers: {
    author: [{ output: ['tester', 'writer'] }], tester: [{ output: ['writer', 'author'] }, { output: 'two' }],
    writer: [{ output: 'one' }, { output: ['tester', 'author'] }] } });
  const tasks = put(dir, 'tasks.json', [{ description: 'write', handler: 'writer' }, 'test it']);
  const ran = run('run', put(dir, 'shape.json', TEAM), '--agents', script, '--task', `@${tasks}`, '--log', log);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout,
    /elected: "writer-1", by the task\n[^]*elected: "tester-1" by "majority"\n[^]*completed: "two"\n$/);
  const work = lines(log).filter(({ type, input }) => type === 'agent.step.requested' && input.task);
  assert.deepEqual(work.map(({ input }) => input),
    [{ task: { description: 'write', handler: 'writer' } }, { input: 'one', task: 'test it' }]);
  assert.match(run('ballots', log).stdout,
    /^a task with a known handler\n {2}elected: writer-1, by the task\n\ntask "test it"/);
  const unknown = run('dispatch', '{"handler":"none"}', '--shape', join(dir, 'shape.json'), '--agents', script);
  assert.equal(unknown.status, 1);
  assert.match(unknown.stdout, /the handler of the task is not a role with an agent/);
});

test('every engine elects, by one name, a plug-in too; others are refused before anyone is asked', () => {
  const dir = folder();
  const prefix = join(dir, 'prefix'), engines = join(dir, 'engines');
  install(process.env.WRIT_BUILD_DIR, prefix);
  mkdirSync(engines, { mode: 0o700 });
  const so = join(engines, 'ranked-pairs.so');
  const made = spawnSync('cc', ['-shared', '-fPIC', '-o', so, join(source, 'examples/ranked-pairs/ranked_pairs.c'),
    `-I${join(prefix, 'include')}`], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  chmodSync(so, 0o600);
  const script = put(dir, 'answers.json', { answers: { author: [{ output: ['tester', 'writer'] }, { output: 1 }],
    tester: [{ output: ['writer', 'author'] }, { output: 2 }], writer: [{ output: ['tester', 'author'] },
      { output: 3 }] } });
  const shape = put(dir, 'shape.json', { ...TEAM, process: undefined });
  const log = join(dir, 'log');
  for (const [engine, handler] of [['majority', 'tester-1'], ['borda', 'tester-1'], ['first_valid', 'tester-1'],
    ['weighted_consensus', 'tester-1'], ['ranked-pairs', 'tester-1'], ['engine:ranked-pairs', 'tester-1']]) {
    const each = `${log}-${engine.replace(':', '-')}`;
    const ran = run('dispatch', 't', '--shape', shape, '--agents', script, '--engine', engine, '--engines', engines,
      '--log',
      each, '--json');
    assert.equal(JSON.parse(ran.stdout).handler, handler, `${engine}: ${ran.stderr}`);
    assert.equal(run('replay', each, '--engines', engines).status, 0, engine);
    assert.equal(lines(each).find(({ type }) => type === 'dispatch.started').engine, engine);
  }
  assert.equal(run('dispatch', 't', '--shape', shape, '--agents', script, '--engine', 'unanimous').status, 1);
  const unknown = run('dispatch', 't', '--shape', shape, '--agents', script, '--engine', 'plurality');
  assert.equal(unknown.status, 3);
  assert.match(unknown.stderr, /unknown_engine: there is no engine plurality that elects/);
  // in a shape, and in crew vote
  const named = put(dir, 'named.json', { ...TEAM, consensus: 'ranked-pairs' });
  assert.match(run('check', named).stdout, /consensus: unsupported_voting_mode/);
  assert.equal(run('check', named, '--engines', engines).status, 0);
  const votes = put(dir, 'votes.json', [['a', 'b'], ['a', 'b']].map((output, at) => ({ agentId: `v${at}`, output })));
  for (const name of ['ranked-pairs', 'engine:ranked-pairs'])
    assert.match(run('vote', name, votes, '--engines', engines).stdout, /resolved: "a"/, name);
  const voting = put(dir, 'voting.json', { schema_version: '1.0', name: 'v', roles: [
    role('a', 2, { first_input: true, final_output: true, execution: { voting: { mode: 'ranked-pairs' } } })] });
  assert.equal(run('check', voting, '--engines', engines).status, 0);
  assert.match(run('check', voting).stderr, /\/roles\/0\/execution\/voting\/mode: invalid_value/);
});

// Written from the specification alone: the first of the candidates with the most.
const best = (candidates, score) => candidates.reduce((won, each) => (score(each) > score(won) ? each : won));
const ENGINES = {
  majority: (candidates, ballots) => best(candidates, (c) => ballots.filter(([first]) => first === c).length),
  borda: (candidates, ballots) => best(candidates, (c) => {
    const points = ballots.reduce((sum, ballot) => sum + candidates.length - 1 - ballot.indexOf(c), 0);
    return points + ballots.filter(([first]) => first === c).length * (candidates.length - 1);
  }),
  first_valid: (candidates, [[first]]) => first,
};

test('random elections are those of an independent count', () => {
  const dir = folder();
  const names = ['d', 'a', 'z', 'b', 'ab', 'c'];
  const shape = put(dir, 'shape.json', { ...TEAM, roles: names.map((name) => role(name, 1)) });
  const tasks = put(dir, 'tasks.json', Array(ELECTIONS).fill('t'));
  Object.entries(ENGINES).forEach(([engine, count], seed) => {
    const log = join(dir, engine);
    // half of the agents at least can be read; the others fail, are at fault, or answer anything
    const command = worker(dir, `
      globalThis.draw ??= (${random})(${seed});
      if (e.type !== 'agent.step.requested') return;
      if (!e.input.ballot) return answer(1);
      const ranking = e.input.ballot.map((name) => [globalThis.draw(1000), name]).sort(([a], [b]) => a - b).map(([,
        n]) => n);
      const way = ['d', 'z', 'ab'].includes(e.roleId) ? globalThis.draw(2) : globalThis.draw(5);
      if (way === 4) say({ type: 'agent.step.failed', correlationId: e.correlationId, error: {} });
      else answer([ranking, 'so: ' + JSON.stringify(ranking) + '.', 'nothing', { fault: 1 }][way]);`);
    const ran = run('dispatch', `@${tasks}`, '--shape', shape, '--agents', command, '--shared', '--engine', engine,
      '--log',
      log, '--json');
    assert.equal(ran.status, 0, ran.stderr);
    const { elections } = JSON.parse(run('ballots', log, '--json').stdout);
    assert.equal(elections.length, ELECTIONS);
    for (const { candidates, ballots, elected } of elections) {
      const rankings = ballots.filter(({ ranking }) => ranking).map(({ ranking }) => ranking);
      assert.ok(rankings.length * 2 >= names.length);
      assert.deepEqual(candidates, names);
      for (const { voter, ranking } of ballots) if (ranking) assert.equal(ranking.at(-1), voter);
      assert.equal(elected, `${count(candidates, rankings)}-1`);
    }
    // all win some; the first voter never ranks itself first
    assert.equal(new Set(elections.map(({ elected }) => elected)).size, names.length - (engine === 'first_valid'));
    assert.equal(run('replay', log).status, 0);
  });
});

test('a crew whose roles cannot be ranked is refused, and members without effect are named', () => {
  const dir = folder();
  const script = put(dir, 's.json', { answers: {} });
  const two = put(dir, 'two.json', { ...TEAM, roles: [role('a', 2)] });
  assert.match(run('dispatch', 't', '--shape', two, '--agents', script).stderr,
    /role a has 2 agents: in a consensual crew/);
  const inert = put(dir, 'inert.json', { schema_version: '1.0', name: 'i', roles: [{ role: 'a', amount: 1,
    first_input: true,
    final_output: true, permissions: { invite: ['a'], modify_structure: true }, delegation: { max_depth: 2 },
    execution: { serial: true } }] });
  const checked = run('check', inert);
  assert.equal(checked.status, 0);
  for (const path of ['permissions.invite', 'permissions.modify_structure', 'delegation.max_depth', 'execution.serial'])
    assert.ok(checked.stdout.includes(`warning: a.${path}: no_effect\n`), checked.stdout);
  const ran = run('run', inert, '--agents', script);
  assert.match(ran.stderr, /^writ: warning: a\.permissions\.invite has no effect\n/);
});

test('a task is JSON when all of it is one JSON value, and else plain text', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'x',
    roles: [role('a', 1, { first_input: true, final_output: true })] });
  const script = put(dir, 's.json', { answers: { a: [{ output: 1 }, { output: 1 }] } });
  let n = 0;
  const task = (text) => {
    const log = join(dir, `log-${n++}`);
    const ran = run('run', shape, '--agents', script, '--task', text, '--log', log);
    if (ran.status !== 0) return ran.stderr;
    return lines(log).find(({ type }) => type === 'crew.started').task;
  };
  for (const [text, want] of [
    ['fix the build', 'fix the build'], ['"quoted"', 'quoted'], ['42', 42], ['null', null], ['[1]', [1]],
    [' {"a": 1} ', { a: 1 }], ['[urgent] fix it', '[urgent] fix it'], ['"a" and "b"', '"a" and "b"'], ['', ''],
    ['4 2', '4 2'], ['truely', 'truely'], ['ünï ☃ "', 'ünï ☃ "'], ['two\nlines\n', 'two\nlines'],
    [`@${put(dir, 'task.txt', 'from a file\n')}`, 'from a file'], [`@${put(dir, 'task.json', '["x"]\n')}`, ['x']],
  ]) assert.deepEqual(task(text), want, text);
  assert.match(task('{"a": 1'), /the task: the text breaks off/);
  assert.match(task('{a: 1}'), /the task: /);
  assert.match(task('{"a":1,"a":2}'), /the task: .*duplicate/);
  assert.match(task(`@${join(dir, 'missing')}`), /missing/);
});

test('workers share a pool: put, search, subscribe, statistics; and it replays', () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'p',
    roles: [role('first', 1, { first_input: true }), role('r', 2, { execution: { voting: { mode: 'majority' } } }),
      role('last', 1, { final_output: true })] });
  // first subscribes and stays there; each r puts and searches; last reads the statistics
  const command = worker(dir, `
    const ask = (type, rest = {}) => say({ type, correlationId: e.correlationId, id: type, ...rest });
    if (e.type === 'agent.step.requested') {
      globalThis.step = e.correlationId;
      if (e.roleId === 'first') ask('pool.subscribe', { anyTags: ['risk'] });
      if (e.roleId === 'r') ask('pool.put', { content: 'by ' + e.agentId, tags: ['risk'], segment: 'review',
        importance: 0.9,
        metadata: { from: e.agentId }, key: 'only' });
      if (e.roleId === 'last') ask('pool.statistics');
    } else if (e.type === 'pool.answered') {
      if (e.request === 'pool.put' && e.id === 'pool.put') return ask('pool.search', { notAgent: 'nobody',
        segment: 'review', agentId: e.agentId });
      say({ type: 'agent.step.completed', correlationId: globalThis.step,
        output: e.result.insights?.length ?? e.result });
    } else if (e.type === 'pool.insight') fs.appendFileSync('${dir}/heard', e.insight.content + '\\n');`);
  const ran = run('run', shape, '--agents', command, '--log', log, '--json');
  assert.equal(ran.status, 0, ran.stderr);
  assert.deepEqual(JSON.parse(ran.stdout).output.statistics,
    { agents: { 'r-1': 1, 'r-2': 1 }, averageImportance: 0.9, insights: 2, segments: { review: 2 },
      tags: { risk: 2 } });
  assert.equal(run('replay', log).status, 0);
  const heard = lines(log).filter(({ type }) => type === 'pool.insight').map(({ agentId, insight }) => [agentId,
    insight.content]);
  assert.deepEqual(heard.sort(), [['first-1', 'by r-1'], ['first-1', 'by r-2']]);
  assert.deepEqual(readFileSync(`${dir}/heard`, 'utf8').trim().split('\n').sort(), ['by r-1', 'by r-2']);
  const text = readFileSync(log, 'utf8');
  assert.match(run('replay', put(dir, 'forged', text.replace('"added":true', '"added":false'))).stdout, /different/);
});

test('a request to the pool that is wrong or too much is answered with an error', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'p',
    roles: [role('a', 1, { first_input: true, final_output: true })] });
  const messages = [{ type: 'pool.put' }, { type: 'pool.search', anytags: ['x'] }, { type: 'pool.put', content: 'one' },
    { type: 'pool.put', content: 'two' }, { type: 'pool.burn' },
    { type: 'agent.action.requested', action: 'shout_at', to: 'a-1' }, { type: 'agent.action.requested',
      action: 'talk_to' }];
  const script = put(dir, 's.json', { answers: { a: [{ messages, output: 1 }, { output: 2 }] } });
  const log = join(dir, 'log');
  assert.equal(run('run', shape, '--agents', script, '--pool', '1', '--log', log).status, 0);
  const answers = lines(log).filter(({ type }) => ['pool.answered', 'agent.action.resolved'].includes(type));
  assert.deepEqual(answers.map(({ error }) => error?.code),
    ['schema', 'schema', undefined, 'limit_exceeded', 'schema', 'schema', 'schema']);
  assert.match(answers[1].error.message, /^\/anytags: pool\.search has no such member/);
  assert.equal(run('replay', log).status, 0);
  assert.equal(run('run', shape, '--agents', script, '--pool', '1000001').status, 2);
});

test('permissions gate what agents say to each other, and a denial asks its fixer', () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'acts', roles: [
    role('a', 1, { first_input: true, permissions: { talk_to: ['b'], delegate_to: [], escalate_to: ['z'] } }),
    role('b', 1), role('f', 1, { activation: { on_permission_denied: true } }), role('z', 1,
      { final_output: true })] });
  const command = worker(dir, `
    const act = (action, to, message) => say({ type: 'agent.action.requested', correlationId: e.correlationId,
      id: action, action, to, message });
    if (e.type === 'agent.message') fs.appendFileSync('${dir}/heard',
      e.agentId + ' hears ' + e.from + ': ' + e.message + '\\n');
    if (e.type === 'agent.action.resolved') {
      fs.appendFileSync('${dir}/acts', e.id + ' ' + e.allowed + '\\n');
      if (e.id === 'delegate_to') say({ type: 'agent.step.completed', correlationId: e.correlationId, output: 'a' });
    }
    if (e.type !== 'agent.step.requested') return;
    if (e.roleId !== 'a') return answer(e.input.reason ? 'fixed' : e.input);
    act('talk_to', 'b-1', 'hello');
    act('escalate_to', 'z-1', { grave: 1 });
    act('delegate_to', 'b-1', 'do it');`);
  const ran = run('run', shape, '--agents', command, '--log', log);
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(readFileSync(`${dir}/acts`, 'utf8'), 'talk_to true\nescalate_to true\ndelegate_to false\n');
  // who is not running yet reads it when it is asked
  assert.equal(readFileSync(`${dir}/heard`, 'utf8'), 'b-1 hears a-1: hello\nz-1 hears a-1: [object Object]\n');
  assert.match(ran.stdout, /denied: "a-1" to "b-1"\n {2}"f-1" is to fix: "permission_denied"\n[^]*completed: "fixed"/);
  assert.equal(run('replay', log).status, 0);
});

test('a worker cannot act or use the pool for another one', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'f', roles: [
    role('a', 2, { first_input: true, execution: { voting: { mode: 'majority' } } }), role('z', 1,
      { final_output: true })] });
  for (const type of ['pool.put', 'agent.action.requested']) {
    const command = worker(dir, `
      const read = (name) => (fs.existsSync('${dir}/${type}-' + name) ? fs.readFileSync('${dir}/${type}-' + name,
        'utf8') : '');
      const gone = () => { try { return read('pid').endsWith('.') && !process.kill(parseInt(read('pid')),
        0); } catch { return true; } };
      if (e.agentId === 'a-1') {
        fs.writeFileSync('${dir}/${type}-id', e.correlationId);
        const forged = setInterval(() => gone() && answer('own', clearInterval(forged)), 5);
        return;
      }
      if (e.agentId !== 'a-2') return answer(e.input);
      while (read('id').length < 16);
      fs.writeFileSync('${dir}/${type}-pid', process.pid + '.');
      say({ type: '${type}', correlationId: read('id'), content: 'forged', action: 'talk_to', to: 'z-1' });`);
    const ran = run('run', shape, '--agents', command);
    assert.match(ran.stdout, /"a-2" fails: .*it was not asked for this correlationId/, type);
    assert.match(ran.stdout, /completed: "own"/);
  }
});

test('a worker that floods the crew with requests is ended', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'f',
    roles: [role('a', 1, { first_input: true, final_output: true })] });
  const log = join(dir, 'log');
  const ran = run('run', shape, '--json', '--log', log, '--agents', worker(dir, `
    if (e.type === 'agent.step.requested')
      for (let i = 0; i < 10001; i++) say({ type: 'pool.unsubscribe', correlationId: e.correlationId });`));
  assert.equal(ran.status, 1);
  const failed = lines(log).filter(({ event }) => event?.type === 'agent.step.failed');
  assert.match(failed[0].event.error.message, /too many requests in one step/);
});

test('hooks are commands and URLs; what they ask for is in the log, and a replay asks none', async (t) => {
  const dir = folder(), log = join(dir, 'log'), seen = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => { body += piece; });
    request.on('end', () => {
      seen.push(JSON.parse(body));
      response.end(JSON.stringify({ checkpoints: ['by-url'], actions: [{ action: 'talk_to', from: 'a-1',
        to: 'z-1' }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const hooks = put(dir, 'hooks.json', {
    audit: `cat >> '${dir}/audit'; echo '{"checkpoints":["by-command"]}'`,
    remote: `http://127.0.0.1:${server.address().port}/hook`,
    broken: 'echo nonsense', failing: 'exit 3', unused: 'true', quiet: `echo seen >> '${dir}/denied'`,
  });
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'hooked', roles: [
    role('a', 1, { first_input: true, hooks: { before_role: 'audit', after_agent: 'remote', after_role: 'broken',
      on_permission_denied: 'quiet', before_agent: 'unknown' } }),
    role('z', 1, { final_output: true, hooks: { after_role: 'failing' } })] });
  const args = ['run', shape, '--agents', worker(dir, 'answer(e.roleId);'), '--hooks', hooks, '--log', log];
  const child = spawn(writ, ['crew', ...args]);
  let out = '', err = '';
  child.stdout.on('data', (text) => { out += text; });
  child.stderr.on('data', (text) => { err += text; });
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, err);
  assert.match(out, /checkpoint "by-command"\n[^]*checkpoint "by-url"\n {2}denied: "a-1" to "z-1"\n/);
  assert.match(err, /hook broken at after_role: not a JSON value/);
  assert.match(err, /hook failing at after_role: ended with status 3/);
  assert.deepEqual(seen.map(({ stage, agentId, output, fault }) => [stage, agentId, output, fault]),
    [['after_agent', 'a-1', 'a', false]]);
  assert.equal(JSON.parse(readFileSync(`${dir}/audit`, 'utf8')).stage, 'before_role');
  assert.equal(readFileSync(`${dir}/denied`, 'utf8'), 'seen\n');
  assert.deepEqual(lines(log)[0].hooks, ['audit', 'broken', 'failing', 'quiet', 'remote', 'unused']);
  // the replay knows the answers, and calls nothing
  assert.equal(run('replay', log).status, 0);
  assert.equal(seen.length, 1);
  assert.equal(readFileSync(`${dir}/denied`, 'utf8'), 'seen\n');
  assert.match(run('checkpoints', log).stdout, /by-command {2}\d+\nby-url/);
  const text = readFileSync(log, 'utf8');
  assert.match(run('replay', put(dir, 'forged', text.replace('"by-command"]', '"by-nobody"]'))).stdout, /different/);
  for (const [content, said] of [['[]', /not a JSON object/], ['{"a":1}', /\/a: must be a command or a URL/],
    ['{"a":"http://example.com/x"}', /\/a: /]]) {
    const refused = run('run', shape, '--agents', 'true', '--hooks', put(dir, 'bad.json', content));
    assert.equal(refused.status, 3);
    assert.match(refused.stderr, said);
  }
});

test('a hook that reads nothing, or writes too much, neither ends nor floods the crew', () => {
  const dir = folder(), log = join(dir, 'log');
  const hooks = put(dir, 'hooks.json', { deaf: `exec <&-; echo '{"checkpoints":["heard"]}'`,
    endless: 'exec yes', loud: `head -c 10000000 /dev/zero | tr '\\0' x >&2; echo '{"checkpoints":["loud"]}'` });
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'h', roles: [
    role('a', 1, { first_input: true, hooks: { before_role: 'deaf', before_agent: 'endless', after_role: 'loud' } }),
    role('z', 1, { final_output: true })] });
  const script = put(dir, 's.json', { answers: { a: [{ output: 'done' }], z: [{ output: 'done' }] } });
  const ran = run('run', shape, '--agents', script, '--hooks', hooks, '--log', log,
    '--input', `@${put(dir, 'input.json', JSON.stringify('x'.repeat(500_000)))}`); // more than a pipe holds
  assert.equal(ran.status, 0, ran.stderr.slice(-500));
  assert.match(ran.stderr, /hook endless at before_agent: an answer of more than 1048576 bytes/);
  assert.ok(ran.stderr.length < 100_000, String(ran.stderr.length));
  assert.match(run('checkpoints', log).stdout, /heard {2}\d+\nloud/);
  const refused = run('run', shape, '--agents', script, '--hooks',
    put(dir, 'bad.json', { deaf: 'HTTP://user:secret@127.0.0.1/x' }));
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /\/deaf: a URL must not hold credentials/);
});

test('a crew that takes longer than its limit is aborted', () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'l',
    roles: [role('a', 1, { first_input: true, final_output: true })] });
  const ran = run('run', shape, '--agents', 'cat >/dev/null', '--limit', '200', '--log', log);
  assert.equal(ran.status, 1);
  assert.match(ran.stdout, /aborted: "timeout"\n$/);
  assert.equal(run('replay', log).status, 0);
  const script = put(dir, 's.json', { answers: { a: [{ silent: true }] } });
  assert.match(run('run', shape, '--agents', script, '--limit', '200').stdout, /aborted: "timeout"\n$/);
});
