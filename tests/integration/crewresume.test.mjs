// `writ crew resume`: a crew whose program is killed anywhere is continued from its log, to the same result, and the
// log replays. Checkpoints and snapshots of a log.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, lines, put, random, role, run, worker, writ } from '../support/js/crews.mjs';
import { linesOf, until } from '../support/js/gateway.mjs';

const SEEDS = Number(process.env.WRIT_CREW_SEEDS ?? 12);

// Every kind of input: answers, faults, silence, requests, nested crews, elections.
const SHAPE = {
  schema_version: '1.0', name: 'all',
  roles: [
    role('lead', 1, { first_input: true, execution: { checkpoints: ['led'] } }),
    role('reviewer', 3, { permissions: { talk_to: ['lead'] },
      execution: { timeout_ms: 5000, voting: { mode: 'review' } } }),
    role('team', 2, { nested_crew: 'team', execution: { memex: { isolation: 'hard' }, voting: { mode: 'majority' } } }),
    role('fixer', 1, { activation: { on_fault: true, on_timeout: true, on_permission_denied: true } }),
    role('end', 1, { final_output: true, execution: { memex: { view: 'all', retrieval: {} } } }),
  ],
};
const TEAM = { schema_version: '1.0', name: 'team', process: 'consensual',
  roles: [role('x', 1), role('y', 1), role('w', 1)] };
const put_ = (content) => ({ type: 'pool.put', content, tags: ['t'], key: content });
const SCRIPT = { answers: {
  lead: [{ output: 'plan', messages: [{ type: 'pool.subscribe', anyTags: ['t'] }],
    memex_commands: [{ type: 'memory.create', item: { id: 'm', kind: 'note' } }] }],
  reviewer: [{ output: 'approve', messages: [put_('one'), { type: 'pool.search', allTags: ['t'] }] }],
  'reviewer-2': [{ fault: true, messages: [{ type: 'agent.action.requested', action: 'talk_to', to: 'lead-1',
    message: 'hi' }] }],
  'reviewer-3': [{ silent: true, messages: [{ type: 'agent.action.requested', action: 'escalate_to', to: 'end-1' }] }],
  x: [{ output: ['y', 'w'] }, { output: 'w, y' }], y: [{ output: 'x w' }, { failed: 'no' }, { output: 'by y' }],
  w: [{ output: ['y', 'x'] }, { output: ['y', 'x'] }],
  fixer: [{ output: 'modify' }, { output: 'approve' }, { output: 'approve' }, { output: 'approve' }],
  end: [{ output: { done: 1 }, messages: [{ type: 'pool.statistics' }] }],
} };

function scripted() {
  const dir = folder();
  mkdirSync(join(dir, 'registry'));
  put(dir, 'registry/team.json', TEAM);
  const script = put(dir, 'answers.json', SCRIPT), log = join(dir, 'log');
  const ran = run('run', put(dir, 'shape.json', SHAPE), '--registry', join(dir, 'registry'), '--agents', script,
    '--input',
    '1', '--task', 'do it', '--log', log, '--checkpoints', '--json');
  assert.equal(ran.status, 0, ran.stderr);
  return { dir, script, log, text: readFileSync(log), ran: JSON.parse(ran.stdout) };
}

test('a log that is cut anywhere is continued to the same result, and then replays', () => {
  const { dir, script, log, text, ran } = scripted();
  assert.equal(run('replay', log).status, 0);
  for (const type of ['input.message', 'input.tick', 'nested.crew.completed', 'dispatch.elected', 'pool.insight',
    'permission.denied', 'agent.message', 'memex.command.emitted']) {
    assert.ok(text.includes(`"type":"${type}"`), type);
  }
  const ends = [...text.keys()].filter((at) => text[at] === 10).map((at) => at + 1);
  const started = ends[1]; // the head, and the start
  const at = random(19);
  const cuts = [...ends.slice(1), ...Array.from({ length: 2 * SEEDS }, () => started + at(text.length - started))];
  for (const end of cuts) {
    const cut = join(dir, 'cut');
    writeFileSync(cut, text.subarray(0, end));
    const went = run('resume', cut, '--agents', script, '--json');
    assert.equal(went.status, 0, `${end}: ${went.stderr}`);
    assert.deepEqual(JSON.parse(went.stdout).output, ran.output, `cut at ${end}`);
    const replayed = run('replay', cut);
    assert.equal(replayed.status, 0, `cut at ${end}: ${replayed.stdout}`);
    // what stood there before stays as it was, and the rest differs by the continuation alone
    const whole = Math.max(...ends.filter((each) => each <= end));
    assert.ok(readFileSync(cut).subarray(0, whole).equals(text.subarray(0, whole)));
    const types = (list) => list.filter(({ type }) => !/^(log|input)\\./.test(type))
      .map((line) => JSON.stringify({ ...line, ts: 0 }));
    const delivered = lines(cut).filter(({ type }) => type === 'input.deliver').map(({ event }) => event.correlationId);
    assert.equal(new Set(delivered).size, delivered.length, 'what was answered is not asked again');
    const extra = lines(cut).filter(({ type }) => type === 'input.resume').length;
    if (extra === 0) assert.deepEqual(types(lines(cut)), types(lines(log)));
    const once_ = (list) => [...new Set(types(list).filter((line) => line.includes('agent.step.requested')))].sort();
    assert.deepEqual(once_(lines(cut)), once_(lines(log)), 'the same steps');
  }
});

test('what is not the log of this very session is not continued', () => {
  const { dir, script, text } = scripted();
  const half = text.toString().split('\n').slice(0, 20).join('\n') + '\n';
  for (const [name, content, said] of [
    ['changed', half.replace('"output":"plan"', '"output":"plot"'), /not that of its session: line \d+: differs/],
    ['empty', '', /not the log of a crew/],
    ['idle', half.split('\n')[0] + '\n', /did not start: remove the log, and run it/],
    ['foreign', '{"type":"log.opened","format":"crew-log/9"}\n', /not the log of a crew/],
  ]) {
    const file = put(dir, name, content);
    const went = run('resume', file, '--agents', script);
    assert.notEqual(went.status, 0, name);
    assert.match(went.stderr, said, name);
    assert.equal(readFileSync(file, 'utf8'), content, 'untouched');
  }
  assert.match(run('resume', join(dir, 'missing'), '--agents', script).stderr, /missing: No such file/);
  const refused = run('resume', put(dir, 'half', half), '--agents', script, '--pending', 'refuse');
  assert.match(refused.stderr, /resume_unresolved/);
  assert.equal(run('resume', join(dir, 'half'), '--agents', script, '--pending', 'maybe').status, 2);
  assert.equal(run('resume', join(dir, 'half'), '--agents', script, '--from', 'x').status, 2);
});

test('steps without an answer fail when that is asked for, and fixers take over', () => {
  const dir = folder();
  const shape = { schema_version: '1.0', name: 'f', roles: [role('a', 2, { first_input: true, final_output: true }),
    role('fixer', 1, { activation: { on_fault: true } })] };
  const script = put(dir, 's.json', { answers: { a: [{ output: 'own' }, { output: 'own' }], fixer: [{ output: 'fixed' },
    { output: 'fixed' }, { output: 'fixed' }, { output: 'fixed' }] } });
  const log = join(dir, 'log');
  assert.equal(run('run', put(dir, 'shape.json', shape), '--agents', script, '--log', log).status, 0);
  const at = readFileSync(log, 'utf8').split('\n').findIndex((line) => line.includes('input.deliver'));
  const cut = put(dir, 'cut', readFileSync(log, 'utf8').split('\n').slice(0, at).join('\n') + '\n');
  const went = run('resume', cut, '--agents', script, '--pending', 'fail');
  assert.equal(went.status, 0, went.stderr);
  assert.match(went.stdout, /"fixer-1" is to fix: "fault"[^]*"fixer-1" answers "fixed"/);
  assert.equal(run('replay', cut).status, 0);
  assert.ok(lines(cut).some(({ type, pending }) => type === 'input.resume' && pending === 'fail'));
});

// A worker that takes a random time, so that a kill comes anywhere, and that answers the same every time.
const answers = (dir) => worker(dir, `
  if (e.type !== 'agent.step.requested') return;
  const put = (key) => say({ type: 'pool.put', correlationId: e.correlationId, content: key, key });
  const later = (fn) => setTimeout(fn, Math.random() * 15);
  put('from ' + e.agentId);
  if (e.agentId === 'b-2') say({ type: 'agent.action.requested', correlationId: e.correlationId, action: 'talk_to',
    to: 'a-1' });
  later(() => answer(e.input?.ballot ? e.input.ballot : (e.input?.reason ?? e.input) + '/' + e.agentId));`);

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`a crew of processes that is killed again and again ends as one that is not: seed ${seed}`, async () => {
    const dir = folder(), draw = random(seed), log = join(dir, 'log');
    mkdirSync(join(dir, 'registry'));
    put(dir, 'registry/team.json', TEAM);
    const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'killed', roles: [
      role('a', 1, { first_input: true }), role('b', 2, { execution: { voting: { mode: 'majority' } } }),
      role('t', 1, { nested_crew: 'team' }), role('f', 1, { activation: { on_permission_denied: true } }),
      role('z', 1, { final_output: true })] });
    const common = ['--agents', answers(dir), '--json', ...(seed % 2 ? ['--shared'] : [])];
    const first = ['run', shape, '--registry', join(dir, 'registry'), '--input', '"i"', ...common];
    const straight = run(...first);
    assert.equal(straight.status, 0, straight.stderr);

    let out = '', code = null, kills = 0, args = [...first, '--log', log];
    while (code === null) {
      const child = spawn(writ, ['crew', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
      let err = '';
      out = '';
      child.stdout.on('data', (text) => { out += text; });
      child.stderr.on('data', (text) => { err += text; });
      const exit = once(child, 'exit');
      // kill when the log has grown by a random number of bytes: the event is the growth
      const size = () => (existsSync(log) ? statSync(log).size : 0);
      const goal = kills < 15 ? size() + 1 + draw(6000) : Infinity;
      let ended = false;
      exit.then(() => { ended = true; });
      await until(() => ended || size() >= goal, 'progress or the end');
      if (!ended && child.kill('SIGKILL')) kills++;
      const [status, signal] = await exit;
      if (signal === null) {
        code = status;
        assert.equal(status, 0, err);
      }
      const started = existsSync(log) && /"input.start"}\n/.test(readFileSync(log, 'utf8'));
      if (!started) rmSync(log, { force: true }); // killed before the first line was whole
      args = started ? ['resume', log, ...common] : [...first, '--log', log];
    }
    assert.deepEqual(JSON.parse(out).output, JSON.parse(straight.stdout).output, `after ${kills} kills`);
    const replayed = run('replay', log);
    assert.equal(replayed.status, 0, replayed.stdout);
    // every put counts once, however often its step was asked for
    const added = lines(log).filter(({ type, result }) => type === 'pool.answered' && result?.added);
    assert.equal(new Set(added.map(({ result }) => result.insight)).size, added.length);
  });
}

test('a log that cannot grow ends the run, has no gap, and is continued', () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'full',
    roles: [role('a', 3, { first_input: true }), role('z', 1, { final_output: true })] });
  const agents = worker(dir, `if (e.type === 'agent.step.requested') answer('x'.repeat(9000)); process.exitCode = 3;
    lines.close();`);
  const ran = spawnSync('sh', ['-c', 'ulimit -f 40; exec "$@"', 'sh', writ, 'crew', 'run', shape, '--agents', agents,
    '--log', log], { encoding: 'utf8' }); // 20 or 40 KiB
  assert.equal(ran.status, 4, ran.stderr);
  assert.match(ran.stderr, /the log: File too large/);
  assert.match(run('replay', log).stdout, /the log is truncated/);
  assert.equal(run('resume', log, '--agents', agents).status, 0);
  assert.match(run('replay', log).stdout, /^identical/);
});

test('two programs do not write one log', async () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'one',
    roles: [role('a', 1, { first_input: true, final_output: true })] });
  const child = spawn(writ, ['crew', 'run', shape, '--agents', `echo > '${dir}/there'; cat >/dev/null`, '--log', log]);
  await until(() => linesOf(`${dir}/there`).length === 1, 'a worker');
  const second = run('resume', log, '--agents', 'true');
  assert.equal(second.status, 3);
  assert.match(second.stderr, /another program writes this log/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const third = run('resume', log, '--agents', worker(dir, 'answer(1);'), '--json');
  assert.equal(JSON.parse(third.stdout).output, 1, third.stderr);
});

test('time in which no program runs does not expire a step', async () => {
  const dir = folder(), log = join(dir, 'log');
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'late',
    roles: [role('a', 1, { first_input: true, final_output: true, execution: { timeout_ms: 60000 } })] });
  const child = spawn(writ, ['crew', 'run', shape, '--agents', `echo > '${dir}/there'; cat >/dev/null`, '--log', log]);
  await until(() => linesOf(`${dir}/there`).length === 1, 'a worker');
  child.kill('SIGKILL');
  await once(child, 'exit');
  // as if that had been an hour ago
  const text = readFileSync(log, 'utf8').replace(/"ts":(\d+)/g, (_, ts) => `"ts":${Number(ts) - 3600000}`);
  writeFileSync(log, text);
  const went = run('resume', log, '--agents', worker(dir, 'answer("in time");'), '--json');
  assert.equal(JSON.parse(went.stdout).output, 'in time', went.stderr);
  const [resumed] = lines(log).filter(({ type }) => type === 'input.resume');
  assert.ok(resumed.stoppedMs >= 3600000 && resumed.stoppedMs < 3700000, `${resumed.stoppedMs}`);
  assert.equal(run('replay', log).status, 0);
});

test('a crew is continued from each of its checkpoints, in a new log', () => {
  const { dir, script, log, ran } = scripted();
  const listed = run('checkpoints', log);
  assert.match(listed.stdout, /^led {2}\d+\nphase:lead:0 {2}\d+\n/);
  const { checkpoints } = JSON.parse(run('checkpoints', log, '--json').stdout);
  const ids = [...new Set(checkpoints.map(({ id }) => id))]; // both nested crews take one of the same id
  assert.deepEqual(ids, ['led', 'phase:lead:0', 'phase:reviewer:1', 'phase:y:1', 'phase:team:2', 'phase:end:3']);
  ids.forEach((id, at) => {
    const to = join(dir, `from-${at}`);
    const went = run('resume', log, '--agents', script, '--from', id, '--log', to, '--json');
    assert.equal(went.status, 0, `${id}: ${went.stderr}`);
    assert.deepEqual(JSON.parse(went.stdout).output, ran.output, id);
    assert.equal(run('replay', to).status, 0, id);
    const snapshot = JSON.parse(run('snapshot', log, '--at', id).stdout);
    assert.equal(snapshot.schema_version, '1.0');
    assert.ok(['awaiting_responses', 'completed'].includes(snapshot.status));
  });
  assert.equal(JSON.parse(run('snapshot', log).stdout).status, 'completed');
  assert.match(run('snapshot', log, '--at', 'none').stderr, /no checkpoint none: list them/);
  assert.match(run('resume', log, '--agents', script, '--from', 'none', '--log', join(dir, 'n')).stderr,
    /no checkpoint none/);
  assert.match(run('resume', log, '--agents', script, '--from', 'led', '--log', log).stderr, /File exists/);
});
