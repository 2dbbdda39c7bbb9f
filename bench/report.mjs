// report.mjs - from samples to rows, and from rows to the text of the report.

/** Median, least and most of some numbers. */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return {
    median: sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
    least: sorted[0],
    most: sorted.at(-1),
  };
}

/** One row per number of connections and target; a ratio is taken within each round. */
export function summary(samples, connections, targets) {
  const rows = [];
  for (const conns of connections) {
    for (const target of targets) {
      const own = samples.filter(s => s.conns === conns && s.target === target);
      const floor = round => samples.find(
        s => s.conns === conns && s.round === round && s.target === 'nginx');
      const to = (other, name) => (other(0) ? spread(own.map(s => s[name] / other(s.round)[name])) : null);
      const was = round => samples.find(
        s => s.conns === conns && s.round === round && s.target === `was_${target}`);
      const of = name => round => samples.find(
        s => s.conns === conns && s.round === round && s.target === name);
      const without = { traced: of('governed'), followed: of('large') }[target];
      const one = { twin: 'governed', twin_pass: 'pass' }[target];
      const fleet = ['shared', 'pair', 'trio'].includes(target);
      rows.push({
        conns, target,
        rps: spread(own.map(s => s.rps)),
        cpu_us: spread(own.map(s => s.cpu_us)),
        p50_us: spread(own.map(s => s.p50_us)),
        p99_us: spread(own.map(s => s.p99_us)),
        resident_kib: own.at(-1).resident_kib,
        ratio: to(floor, 'rps'),
        cpu_ratio: to(floor, 'cpu_us'),
        was_ratio: to(was, 'rps'),
        was_cpu_ratio: to(was, 'cpu_us'),
        open_p50_us: own[0].open_p50_us ? spread(own.map(s => s.open_p50_us)) : null,
        open_p99_us: own[0].open_p50_us ? spread(own.map(s => s.open_p99_us)) : null,
        open_ratio: own[0].open_p50_us ? spread(own.map(s => s.open_p99_us / s.open_p50_us)) : null,
        loops_ratio: one ? to(of(one), 'rps') : null,
        without_ratio: without ? to(without, 'rps') : null,
        without_cpu_ratio: without ? to(without, 'cpu_us') : null,
        local_ratio: fleet ? to(of('governed'), 'rps') : null,
        one_ratio: fleet ? to(of('shared'), 'rps') : null,
        per_cpu_s: spread(own.map(s => 1e6 / s.cpu_us)),
      });
    }
  }
  return rows;
}

const range = (s, digits) =>
  (s ? `**${s.median.toFixed(digits)}** (${s.least.toFixed(digits)}-${s.most.toFixed(digits)})` : '');
const mib = kib => (kib / 1024).toFixed(1);

const NAMES = {
  nginx: 'nginx',
  floor_pass: 'the least, passing',
  floor: 'the least, governing',
  pass: 'gateway, passing',
  governed: 'gateway, governing',
  twin_pass: 'two loops, passing',
  twin: 'two loops, governing',
  traced: 'gateway, governing, with telemetry',
  large: 'gateway, governing, results of 2 KB',
  followed: 'gateway, governing, results of 2 KB, rules about values',
  shared: 'gateway, governing, PostgreSQL',
  pair: 'two gateways, governing, PostgreSQL',
  trio: 'three gateways, governing, PostgreSQL',
  was_pass: 'the other program, passing',
  was_governed: 'the other program, governing',
};

function head(about) {
  const percent = part => (100 * part).toFixed(0);
  const signature = about.signature_us
    ? `- one ES256 signature, alone on core ${about.core} (\`openssl speed ecdsap256\`, after each round): ${range(about.signature_us, 1)} us\n`
    : '';
  const sync = about.sync_median_us
    ? `- writing and syncing 16 KB, alone (1,000 times after each round): median ${range(about.sync_median_us, 0)} us, ` +
      `longest ${range(about.sync_most_us, 0)} us, CPU ${range(about.sync_cpu_us, 0)} us\n` : '';
  const share = about.share
    ? `- each loop with its part of the program is held to ${about.share} % of a processor (cgroup quota)\n` : '';
  const notes = about.quick ? '\nA smoke test of a few seconds: the figures say nothing.\n' : '';
  return `# Side by side with nginx
${notes}
Written by \`bench/run\` on ${about.date}; [README.md](README.md) says what is measured and how to read it.

- ${about.writ} (${about.commit}), nginx ${about.nginx}, wrk ${about.wrk}, Linux ${about.kernel}
- ${about.cpu}; the measured program on core ${about.core}, load and upstream on core ${about.otherCore}
- ${about.rounds} alternating rounds of ${about.seconds} s each; load average ${about.load_before.toFixed(1)} before, ${about.load_after.toFixed(1)} after
- the host took ${percent(about.stolen.median)} % of the processors' time (${percent(about.stolen.least)}-${percent(about.stolen.most)}) while it was measured
- resident before the first request: nginx ${mib(about.resident_kib.nginx)} MiB, gateway ${mib(about.resident_kib.writ)} MiB
${signature}${sync}${share}
Each cell is the median of the rounds and, in brackets, the least and the most. A ratio is taken
within its round.

`;
}

function compared(about, rows) {
  if (rows.length === 0) return '';
  let text = `
## Against another program

The other program is ${about.against}. Above 1 is more of what the column says than the other has; a
bracket that holds 1 is noise.

| connections | | requests/s | CPU us per request |
|---|---|---|---|
`;
  for (const row of rows) {
    text += `| ${row.conns} | ${NAMES[row.target]} | ${range(row.was_ratio, 2)} | ${range(row.was_cpu_ratio, 2)} |\n`;
  }
  return text;
}

function additions(rows) {
  if (rows.length === 0) return '';
  let text = `
## What telemetry and rules about values cost

Traces and logs of every request, to the gateway without them; rules about where values come from (docs/flows.md), to
the gateway without them and the same calls of 762 bytes with results of 2 KB, 25 in a run: within each round.

| connections | | requests/s | CPU us per request |
|---|---|---|---|
`;
  for (const row of rows) {
    text += `| ${row.conns} | ${NAMES[row.target]} | ${range(row.without_ratio, 3)} ` +
      `| ${range(row.without_cpu_ratio, 3)} |\n`;
  }
  return text;
}

function open(about, rows) {
  if (rows.length === 0) return '';
  let text = `
## An open load

Requests come at random times, at ${about.open} % of the requests/s of the same round, whether or not earlier ones were
answered (open_load.c).

| connections | | p50 ms | p99 ms | p99 to p50 |
|---|---|---|---|---|
`;
  for (const row of rows) {
    text += `| ${row.conns} | ${NAMES[row.target]} | ${(row.open_p50_us.median / 1000).toFixed(2)} ` +
      `| ${(row.open_p99_us.median / 1000).toFixed(2)} | ${range(row.open_ratio, 1)} |\n`;
  }
  return text;
}

function loops(rows) {
  if (rows.length === 0) return '';
  let text = `
## Two loops on two processors

To one loop on one processor, within each round.

| connections | | requests/s |
|---|---|---|
`;
  for (const row of rows) text += `| ${row.conns} | ${NAMES[row.target]} | ${range(row.loops_ratio, 2)} |\n`;
  return text;
}

function shared(rows) {
  if (rows.length === 0) return '';
  let text = `
## PostgreSQL

Gateways whose ledger is on PostgreSQL, to the one with SQLite and to one on PostgreSQL: within each round. A CPU second
is one of the gateways' own processes, without the database's.

| connections | | requests/s to SQLite | requests/s to one gateway | requests per CPU second |
|---|---|---|---|---|
`;
  for (const row of rows) {
    text += `| ${row.conns} | ${NAMES[row.target]} | ${range(row.local_ratio, 2)} | ${range(row.one_ratio, 2)} ` +
      `| ${range(row.per_cpu_s, 0)} |\n`;
  }
  return text;
}

export function markdown(about, rows) {
  let text = head(about);
  text += '| connections | | requests/s to nginx | CPU to nginx | CPU us per request | requests/s ' +
    '| p50 ms | p99 ms | resident MiB |\n|---|---|---|---|---|---|---|---|---|\n';
  for (const row of rows) {
    text += `| ${row.conns} | ${NAMES[row.target]} | ${range(row.ratio, 2)} | ${range(row.cpu_ratio, 2)} ` +
      `| ${range(row.cpu_us, 1)} | ${range(row.rps, 0)} | ${(row.p50_us.median / 1000).toFixed(2)} ` +
      `| ${(row.p99_us.median / 1000).toFixed(2)} | ${mib(row.resident_kib)} |\n`;
  }
  text += open(about, rows.filter(row => row.open_ratio));
  text += loops(rows.filter(row => row.loops_ratio));
  text += shared(rows.filter(row => row.local_ratio || row.one_ratio));
  text += additions(rows.filter(row => row.without_ratio));
  text += compared(about, rows.filter(row => row.was_ratio));
  return `${text}\n![requests per second as a part of nginx's, and CPU per request](report.svg)\n`;
}
