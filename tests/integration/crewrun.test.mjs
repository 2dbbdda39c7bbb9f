// `writ crew run` and `writ crew replay`: crews of processes and of scripts, and their logs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alive, folder, put, role, run, worker, writ } from '../support/js/crews.mjs';
import { linesOf, until } from '../support/js/gateway.mjs';

const SHAPE = {
  schema_version: '1.0',
  name: 'review',
  roles: [
    role('author', 1, { first_input: true }),
    role('reviewer', 3, { execution: { timeout_ms: 60000, voting: { mode: 'review' } } }),
    role('fixer', 1, { activation: { on_fault: true, on_timeout: true } }),
    role('editor', 1, { final_output: true }),
  ],
};
const SCRIPT = {
  answers: {
    author: [{ output: 'draft' }],
    reviewer: [{ output: 'approve' }],
    'reviewer-2': [{ failed: 'lost' }],
    'reviewer-3': [{ silent: true }],
    fixer: [{ output: 'reject' }, { output: 'approve' }],
    editor: [{ output: { final: 1 } }],
  },
};

const ANSWERS = `if (e.type === 'agent.step.requested') answer({ author: 'draft', reviewer: 'approve', fixer: ` +
  `'reject', editor: { final: 1 } }[e.roleId]);`;

test('an input and its events are on the disk before an agent gets its step', (t) => {
  if (process.env.WRIT_SANITIZED) return t.skip('a sanitizer wants to be the first library');
  const dir = folder();
  const [log, trace, lost, so] = ['session.log', 'synced', 'lost', 'synced.so'].map((name) => join(dir, name));
  const made = spawnSync('cc', ['-shared', '-fPIC', '-x', 'c', '-D_GNU_SOURCE', `-DTRACE="${trace}"`, '-o', so,
    join(process.env.WRIT_SOURCE_DIR, 'tests/support/crew/synced.inc')], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const agents = worker(dir, `
    const size = Number(fs.readFileSync('${trace}', 'utf8').trimEnd().split('\\n').at(-1));
    const safe = fs.readFileSync('${log}').subarray(0, size).toString();
    if (e.correlationId && !safe.includes(e.correlationId)) fs.writeFileSync('${lost}', safe);
    ${ANSWERS}`);
  const ran = spawnSync(writ, ['crew', 'run', put(dir, 'shape.json', SHAPE), '--agents', agents, '--log', log],
    { encoding: 'utf8', env: { ...process.env, LD_PRELOAD: so } });
  assert.equal(ran.status, 0, ran.stderr);
  const synced = readFileSync(trace, 'utf8').trimEnd().split('\n');
  assert.equal(synced[0], 'folder', 'its name is durable too');
  assert.equal(Number(synced.at(-1)), readFileSync(log).length, 'so is its end');
  assert.equal(existsSync(lost), false);
  assert.equal(run('replay', log).status, 0);
});

test('a scripted crew gives the same log every time, and the log gives the same session', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json', SHAPE), script = put(dir, 'answers.json', SCRIPT);
  const logs = ['one', 'two'].map((name) => join(dir, name));
  for (const log of logs) {
    const ran = run('run', shape, '--agents', script, '--input', '"topic"', '--log', log);
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout,
      /^crew "run" is given "topic"\n[^]*"reviewer-3" fails: no answer in time\n[^]*vote, "review": "ACCEPT"\n[^]*completed: \{"final":1\}\n$/);
  }
  assert.equal(readFileSync(logs[0], 'utf8'), readFileSync(logs[1], 'utf8'));
  const again = run('replay', logs[0]);
  assert.equal(again.stdout, 'identical: 18 events\n');
  assert.equal(again.status, 0);
  // without our lines it is the canonical event log
  const events = readFileSync(logs[0], 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
    .filter(({ type }) => !/^(log|input)\./.test(type));
  assert.equal(events.length, 18);
  assert.deepEqual(events.at(-1), { finalOutput: { final: 1 }, ts: 60003, type: 'crew.completed' });
});

test('a log that was changed, cut off or is not a log is reported', () => {
  const dir = folder();
  const log = join(dir, 'log');
  run('run', put(dir, 'shape.json', SHAPE), '--agents', put(dir, 'answers.json', SCRIPT), '--log', log);
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  const replay = (name, text) => {
    const ran = run('replay', put(dir, name, text));
    assert.ok([1, 3].includes(ran.status), `${name}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout + ran.stderr;
  };
  const join2 = (list) => list.map((line) => `${line}\n`).join('');
  for (let at = 0; at < lines.length; at++) {
    const changed = [...lines];
    changed[at] = changed[at].replace(/"(ts|events|defaultTimeoutMs)":(\d)/,
      (_, name, digit) => `"${name}":${(Number(digit) + 1) % 10}`);
    if (changed[at] !== lines[at]) replay('changed', join2(changed));
    assert.match(replay('dropped', join2(lines.filter((_, i) => i !== at))),
      at === 0 ? /not the log of a crew/ : /line \d+: /);
    assert.match(replay('doubled', join2(lines.flatMap((line, i) => (i === at ? [line, line] : [line])))),
      /line \d+: /);
    if (at > 0) assert.match(replay('cut', join2(lines.slice(0, at))), /truncated/);
    assert.match(replay('torn', join2(lines.slice(0, at)) + lines[at].slice(0, -3)),
      at === 0 ? /not the log/ : /truncated/);
  }
  const text = join2(lines);
  for (let at = 0; at < text.length; at += 97) {
    replay('byte', text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1));
  }
  const told = replay('told', text.replace('"resolved":"ACCEPT"', '"resolved":"REJECT"'));
  assert.match(told,
    /line \d+: differs at byte \d+, event 14\n {2}recorded: .*REJECT.*\n {2}computed: .*ACCEPT.*\ndifferent\n/);
  assert.match(replay('after', `${text}${lines[1]}\n`), /continues after its end/);
  assert.match(replay('empty', ''), /not the log of a crew/);
  assert.match(replay('foreign', '{"type":"log.opened","format":"other"}\n'), /not the log of a crew/);
  assert.match(replay('bytes', Buffer.from([0xff, 0xfe, 0, 10]).toString('latin1')), /not the log of a crew/);
  assert.match(replay('noshape', '{"type":"log.opened","format":"crew-log/1"}\n'), /the shape of the log/);
});

for (const shared of [[], ['--shared']]) {
  test(`a crew of processes${shared} runs, and its log replays`, () => {
    const dir = folder();
    const log = join(dir, 'log');
    const ran = run('run', put(dir, 'shape.json', SHAPE), '--agents',
      worker(dir, `process.stderr.write('at work\\n'); ${ANSWERS}`),
      '--input', '"topic"', '--log', log, '--json', ...shared);
    assert.equal(ran.status, 0, ran.stderr);
    assert.deepEqual(JSON.parse(ran.stdout), { events: 13, output: { final: 1 }, status: 'completed' });
    const workers = ran.stderr.trimEnd().split('\n').map((line) => JSON.parse(line).worker);
    assert.equal(new Set(workers).size, shared.length ? 1 : 5);
    assert.equal(run('replay', log).status, 0);
  });
}

test('a worker that is dead, silent or malformed fails its agent', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json',
    { ...SHAPE, roles: [role('a', 2, { first_input: true }), role('z', 1, { final_output: true })] });
  const mute = ['sleep 60', 'yes 1>&2', 'exec <&-; sleep 60', 'exec >&-; sleep 60'];
  for (const [command, why] of [
    ['no-such-program', /worker ended with status 127/],
    ['exit 3', /worker ended with status 3/],
    ['kill -9 $$', /killed by signal 9/],
    ['cat', /its type is not one of an answer/],
    ['echo nonsense; cat', /not an answer: not a JSON value/],
    ['printf \'{"type":"\\377"}\\n\'; cat', /not an answer: .*UTF-8/],
    ['printf \'{"a":1,"a":2}\\n\'; cat', /not an answer: .*duplicate/],
    ['echo []; cat', /not an answer: not a JSON object/],
    ['echo {}; cat', /not asked for this correlationId/],
    ['head -c 2000000 /dev/zero | tr "\\0" a; sleep 60', /line of more than 1048576 bytes/],
    ['exec <&-; sleep 60', /closed its input or output|no answer in time/],
    ['exec >&-; sleep 60', /closed its input or output|no answer in time/],
    ['sleep 60', /no answer in time/],
    ['yes 1>&2', /no answer in time/],
  ]) {
    const log = join(dir, `log-${Math.random()}`);
    const ran = run('run', shape, '--agents', command, '--timeout', mute.includes(command) ? '400' : '60000', '--log',
      log);
    assert.equal(ran.status, 1, `${command}: ${ran.stderr}`);
    assert.match(ran.stdout, why, command);
    assert.match(ran.stdout, /completed without a value\n$|aborted/, command);
    assert.equal(run('replay', log).status, 0, command);
  }
});

test('an answer counts for the agent of its process only, and a late one is dropped', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json',
    { ...SHAPE, roles: [role('a', 2, { first_input: true, execution: { voting: { mode: 'unanimous' } } }),
    role('z', 1, { final_output: true })] });
  // a-1 writes its question to a file; a-2 answers in its place, and may be ended for that before it can report that
  // its answer was read
  const thief = worker(dir, `
    const read = (name) => (fs.existsSync('${dir}/' + name) ? fs.readFileSync('${dir}/' + name, 'utf8') : '');
    const ended = (pid) => {
      try {
        return pid.endsWith('.') && !process.kill(parseInt(pid), 0);
      } catch {
        return true;
      }
    };
    if (e.agentId === 'a-1') {
      fs.writeFileSync('${dir}/id', e.correlationId);
      const stolen = setInterval(() => {
        if (read('stolen') === 'yes' || ended(read('thief'))) answer('mine', clearInterval(stolen));
      }, 5);
    } else if (e.agentId === 'a-2') {
      while (read('id').length < 16);
      fs.writeFileSync('${dir}/thief', process.pid + '.');
      say({ type: 'agent.step.completed', correlationId: read('id'), output: 'stolen' });
      fs.writeFileSync('${dir}/stolen', 'yes');
    } else answer(e.input);`);
  const ran = run('run', shape, '--agents', thief);
  assert.match(ran.stdout, /"a-2" fails: .*not asked for this correlationId/);
  assert.match(ran.stdout, /completed: "mine"/);

  // the shared worker is there before the time of a-1 begins; it answers when that is over
  const late = worker(dir, `
    if (e.type === 'agent.step.timed_out') {
      process.stderr.write('expired ' + e.correlationId.length + '\\n');
      answer('late');
    } else if (e.agentId !== 'a-1') answer('in time');`);
  const shape2 = put(dir, 'shape2.json', { ...SHAPE, roles: [role('first', 1, { first_input: true }),
    role('a', 2, { execution: { timeout_ms: 2000, voting: { mode: 'unanimous' } } }),
    role('z', 1, { final_output: true })] });
  const ran2 = run('run', shape2, '--agents', late, '--shared');
  assert.match(ran2.stdout, /"a-1" fails: no answer in time\n {2}vote, "unanimous": "in time"/);
  assert.match(ran2.stderr, /expired 16/);
});

test('a worker that ended is restarted for its next question', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json',
    { schema_version: '1.0', name: 'twice', roles: [role('a', 1, { first_input: true, final_output: true })] });
  const ran = run('run', shape, '--agents', worker(dir, `
    if (fs.existsSync('${dir}/once')) answer('second');
    else { fs.writeFileSync('${dir}/once', ''); process.exit(9); }`));
  assert.match(ran.stdout,
    /"a-1" fails: its worker ended with status 9\n[^]*"a-1" answers "second"\n[^]*completed: "second"\n$/, ran.stderr);
});

test('a signal cancels the crew and ends every worker with its group', async () => {
  const dir = folder();
  const log = join(dir, 'log');
  const command = `trap '' TERM INT; sleep 1000 & echo $! > '${dir}/'$$.pid; echo $$ >> '${dir}/pids'; cat ` +
    `>/dev/null; sleep 1000`;
  const child = spawn(writ, ['crew', 'run', put(dir, 'shape.json', { ...SHAPE,
    roles: [role('a', 3, { first_input: true }), role('z', 1, { final_output: true })] }), '--agents', command, '--log',
      log]);
  let out = '';
  child.stdout.on('data', (text) => { out += text; });
  const pids = () => linesOf(`${dir}/pids`);
  await until(() => pids().length === 3, 'three workers');
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  assert.equal(code, 1);
  assert.match(out, /aborted: "cancelled"\n$/);
  const all = pids().flatMap((pid) => [pid, readFileSync(`${dir}/${pid}.pid`, 'utf8').trim()]);
  await until(() => !all.some(alive), 'workers and their children are gone');
  assert.equal(run('replay', log).stdout, 'identical: 6 events\n');
});

test('a killed program leaves a log that is reported as incomplete', async () => {
  const dir = folder();
  const log = join(dir, 'log');
  const child = spawn(writ,
    ['crew', 'run', put(dir, 'shape.json', SHAPE), '--agents', `echo $$ > '${dir}/pid'; exec sleep 1000`, '--log',
      log]);
  await until(() => linesOf(`${dir}/pid`).length === 1, 'a worker');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const ran = run('replay', log);
  assert.equal(ran.status, 1);
  assert.match(ran.stdout, /line 6: the log is truncated: it has no end; the lines so far are identical/);
  await until(() => !alive(readFileSync(`${dir}/pid`, 'utf8').trim()), 'the worker has gone with it');
});

test('nested crews and their shapes are in the log', () => {
  const dir = folder();
  mkdirSync(join(dir, 'registry'));
  put(dir, 'registry/team.json',
    { schema_version: '1.0', name: 'inner', roles: [role('i', 1, { first_input: true, final_output: true })] });
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'outer',
    roles: [role('lead', 2, { first_input: true, nested_crew: 'team' }), role('z', 1, { final_output: true })] });
  const log = join(dir, 'log');
  const ran = run('run', shape, '--registry', join(dir, 'registry'), '--agents',
    worker(dir, 'answer(e.agentId + (e.input ?? ""));'), '--input', '1', '--log', log);
  assert.match(ran.stdout, /"lead-1" begins the crew "inner"[^]*completed: "z-1i-1i-11"/, ran.stderr);
  assert.equal(run('replay', log).status, 0);
});

test('ten thousand agents share one worker', () => {
  const dir = folder();
  const log = join(dir, 'log');
  const shape = put(dir, 'shape.json',
    { schema_version: '1.0', name: 'many', roles: [role('a', 10000, { first_input: true,
    execution: { voting: { mode: 'majority' } } }), role('z', 1, { final_output: true })] });
  const shared = run('run', shape, '--agents', worker(dir, 'answer(e.roleId);'), '--shared', '--log', log, '--json');
  assert.deepEqual(JSON.parse(shared.stdout), { events: 10007, output: 'z', status: 'completed' }, shared.stderr);
  assert.equal(run('replay', log).status, 0);
  // one process each is too many, which is refused before the first one, and before there is a log
  const each = run('run', shape, '--agents', `echo >> '${dir}/starts'`, '--log', join(dir, 'no'));
  assert.equal(each.status, 3);
  assert.match(each.stderr, /more than 128 agents, and each needs a process: pass --shared/);
  assert.ok(!existsSync(`${dir}/starts`) && !existsSync(join(dir, 'no')));
});

test('as many agents as there may be processes run, and one that ends at once is not restarted again and again', () => {
  const dir = folder();
  const nested = (amount) => ({ schema_version: '1.0', name: 'inner',
    roles: [role('a', amount, { first_input: true }), role('i', 1, { final_output: true })] });
  mkdirSync(join(dir, 'registry'));
  put(dir, 'registry/team.json', nested(124));
  // three nested crews share the processes of their agents; with z and b there are 127
  const shape = put(dir, 'shape.json', { schema_version: '1.0', name: 'outer',
    roles: [role('n', 3, { first_input: true, nested_crew: 'team' }), role('b', 1), role('z', 1,
      { final_output: true })] });
  const args = [shape, '--registry', join(dir, 'registry'), '--agents', `echo >> '${dir}/starts'; exit 0`];
  const ran = run('run', ...args);
  assert.equal(ran.status, 1, ran.stderr);
  assert.ok(readFileSync(`${dir}/starts`, 'utf8').length < 3 * 130);
  put(dir, 'registry/team.json', nested(126));
  assert.match(run('run', ...args).stderr, /more than 128 agents/);
});

test('a wrong command line is reported before any worker starts', () => {
  const dir = folder();
  const shape = put(dir, 'shape.json', SHAPE), script = put(dir, 'answers.json', SCRIPT);
  const log = put(dir, 'log', 'there');
  for (const [args, status, said] of [
    [[shape], 2, /--agents CMD\|SCRIPT is missing/],
    [[shape, '--agents', script, '--timeout', '1s'], 2, /milliseconds/],
    [[shape, '--agents', script, '--log', log], 3, /log: File exists/],
    [[shape, '--agents', script, '--log', join(dir, 'no/log')], 4, /No such file/],
    [[shape, '--agents', script, '--input', 'x'], 3, /input: .*not a JSON value/],
    [[shape, '--agents', join(dir, 'missing.json')], 3, /missing\.json/],
    [[shape, '--agents', put(dir, 'a.json', { answers: [] })], 3, /one member answers/],
    [[shape, '--agents', put(dir, 'b.json', { answers: { x: {} } })], 3, /\/answers\/x: must be a list/],
    [[shape, '--agents', put(dir, 'c.json', { answers: { x: [{ outptu: 1 }] } })], 3,
      /\/answers\/x\/0: unknown member outptu/],
    [[put(dir, 'bad.json', { ...SHAPE, roles: [] }), '--agents', script], 3, /\/roles: too_small/],
    [[put(dir, 'lint.json', { ...SHAPE, roles: [role('a', 1)] }), '--agents', script], 3, /lint_failed/],
  ]) {
    const ran = run('run', ...args);
    assert.equal(ran.status, status, `${args}: ${ran.stderr}`);
    assert.match(ran.stderr, said);
    assert.equal(ran.stdout, '');
  }
  assert.equal(readFileSync(log, 'utf8'), 'there');
});
