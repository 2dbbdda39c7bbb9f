// deploy/kubernetes and deploy/helm: every object is valid, its names and ports agree with the others and with the
// project, the chart has the same objects as the overlays, and the gateway starts from what a pod gives it.
//
// The objects come from this suite's own readers of kustomizations and charts. Where `kubectl` and `helm` are
// installed, they have to build the same ones; where they are not, this file says NOT TESTED.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync,
  symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BIN, SOURCE, serveFolder, writ } from '../support/js/gateway.mjs';
import { merged, objects, render } from '../support/js/helm.mjs';
import { faults } from '../support/js/kubernetes.mjs';
import { documents, kustomize } from '../support/js/kustomize.mjs';
import { startCluster } from '../support/js/postgres.mjs';
import { send } from '../support/js/rpc.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const { default: YAML } = await import(pathToFileURL(npm.resolve('yaml')));
const { default: Ajv } = await import(pathToFileURL(npm.resolve('ajv')));

const source = (path) => readFileSync(join(SOURCE, path), 'utf8');
const VERSION = /^project\(writ VERSION (\S+) /m.exec(source('CMakeLists.txt'))[1];
const CHART = join(SOURCE, 'deploy/helm/writ');
const FOLDERS = ['overlays/single', 'overlays/fleet', 'jobs/init', 'jobs/migrate'];
const folder = (name) => join(SOURCE, 'deploy/kubernetes', name);
const built = Object.fromEntries(FOLDERS.map((name) => [name, kustomize(folder(name))]));

const SINGLE = { store: { kind: 'sqlite' }, replicaCount: 1 };
const MONITORED = { serviceMonitor: { enabled: true } };
const VALUES = { // what the chart is rendered with
  default: {}, single: SINGLE, monitored: MONITORED, init: { ledgerJob: 'init', replicaCount: 0 },
  migrate: { ledgerJob: 'migrate' },
  class: merged(SINGLE, { store: { sqlite: { storageClassName: 'local', accessMode: 'ReadWriteOnce' } } }),
  whole: {
    ...MONITORED, tls: { secretName: 'writ-tls' }, fullnameOverride: 'gate', imagePullSecrets: [{ name: 'registry' }],
    image: { repository: 'registry.example/writ', tag: '9' }, podAnnotations: { note: 'text' },
    nodeSelector: { disk: 'local' }, tolerations: [{ key: 'gateways', operator: 'Exists' }],
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
    configuration: { hosts: ['a.example'], public_url: 'https://a.example', issuer: 'https://a.example',
      admin_url: 'https://b.example', ledger: { claims_kept: '48h' }, upstreams: { up: { http: 'https://c.example' } },
      tools: { 'up/see': { scope: 'see' } } },
  },
  closed: { networkPolicy: { clients: [], operators: [], database: [], upstreams: [], dns: [] } },
  open: { networkPolicy: { enabled: false } },
  readme: YAML.parse(/```yaml\n([^]*?)```/.exec(source('deploy/helm/writ/README.md'))[1]),
};
const rendered = Object.fromEntries(Object.entries(VALUES).map(([name, values]) =>
  [name, objects(render(CHART, { values }))]));
const all = { ...built, ...rendered };

const named = (list) => Object.fromEntries(list.map((one) => [`${one.kind}/${one.metadata.name}`, one]));
const of = (list, kind) => list.filter((one) => one.kind === kind);
const only = (list, kind) => {
  const [one, ...others] = of(list, kind);
  assert.ok(one !== undefined && others.length === 0, kind);
  return one;
};
const selects = (selector, labels) => Object.entries(selector).every(([key, value]) => labels[key] === value);
const podsOf = (list) => list.filter((one) => one.spec?.template !== undefined).map((one) => one.spec.template);
const configuration = (list) => of(list, 'ConfigMap').map((map) => map.data['writ.yaml'])[0];
const gatewaysOf = Object.entries(all).filter(([, list]) => of(list, 'Deployment').length > 0);

// ---- each object

test('every object is valid by the schemas of Kubernetes and of the Prometheus Operator', async () => {
  for (const [name, list] of Object.entries(all)) {
    assert.ok(list.length > 0, name);
    assert.equal(Object.keys(named(list)).length, list.length, `${name}: two objects of one name`);
    for (const one of list) assert.deepEqual(await faults(one), [], `${name}: ${one.kind} ${one.metadata.name}`);
  }
});

test('the schemas find a wrong type, an unknown member and an unknown kind', async () => {
  const gateway = () => structuredClone(only(built['overlays/fleet'], 'Deployment'));
  const typed = gateway();
  typed.spec.replicas = 'three';
  assert.deepEqual(await faults(typed), ['data/spec/replicas must be integer']);
  const misspelled = gateway();
  misspelled.spec.template.spec.containers[0].livenesProbe = {};
  assert.deepEqual(await faults(misspelled), ['/spec/template/spec/containers/0/livenesProbe: unknown']);
  await assert.rejects(faults({ ...gateway(), kind: 'Deploiment' }), /apps\/v1 Deploiment: no such kind/);
  const monitor = structuredClone(only(built['overlays/fleet'], 'ServiceMonitor'));
  monitor.spec.endpoints[0].every = '15s';
  assert.deepEqual(await faults(monitor), ['/spec/endpoints/0/every: unknown']);
});

test('every pod keeps to the restricted standard, and to the user of the image', () => {
  const [, id] = /groupadd --gid (\d+) writ/.exec(source('docker/Dockerfile'));
  for (const [name, list] of Object.entries(all)) {
    for (const { spec } of podsOf(list)) {
      const { runAsNonRoot, runAsUser, runAsGroup, fsGroup, seccompProfile } = spec.securityContext;
      assert.deepEqual([runAsNonRoot, runAsUser, runAsGroup, fsGroup], [true, ...Array(3).fill(Number(id))]);
      assert.deepEqual(seccompProfile, { type: 'RuntimeDefault' });
      assert.equal(spec.automountServiceAccountToken, false);
      for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) assert.equal(spec[key], undefined);
      assert.ok(spec.volumes.every((v) => v.hostPath === undefined), name);
      for (const container of [...spec.initContainers, ...spec.containers]) {
        assert.deepEqual(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] } }, `${name}: ${container.name}`);
        assert.ok(container.resources.requests.memory && container.resources.limits.memory, name);
      }
    }
  }
});

test('every mount has a volume, and every volume is mounted', () => {
  for (const [name, list] of Object.entries(all)) {
    for (const { spec } of podsOf(list)) {
      const mounted = [...spec.initContainers, ...spec.containers].flatMap((c) => c.volumeMounts);
      assert.deepEqual([...new Set(mounted.map((m) => m.name))].sort(), spec.volumes.map((v) => v.name).sort(), name);
      for (const { persistentVolumeClaim: claim, configMap } of spec.volumes) {
        if (claim) assert.equal(only(list, 'PersistentVolumeClaim').metadata.name, claim.claimName);
        if (configMap) assert.equal(only(list, 'ConfigMap').metadata.name, configMap.name);
      }
    }
  }
});

// ---- real tools

/** Whether a program prints such a version. */
const prints = (program, args, what) => what.test(spawnSync(program, args, { encoding: 'utf8' }).stdout ?? '');
const must = (program, args, input) => {
  const run = spawnSync(program, args, { encoding: 'utf8', input, maxBuffer: 1 << 26 });
  assert.equal(run.status, 0, `${program} ${args.join(' ')}: ${run.stderr}`);
  return run.stdout;
};
const read = (text) => YAML.parseAllDocuments(text).map((document) => document.toJS()).filter((one) => one !== null);

test('kubectl builds the same objects from the kustomizations', (t) => {
  if (!prints('kubectl', ['version', '--client'], /^Kustomize Version: v([5-9]|\d\d)/m)) {
    console.error('NOT TESTED: what kubectl makes of deploy/kubernetes: no kubectl with kustomize 5 is installed');
    return t.skip('no kubectl');
  }
  for (const name of FOLDERS) {
    assert.deepEqual(named(built[name]), named(read(must('kubectl', ['kustomize', folder(name)]))), name);
  }
});

test('helm renders the same objects from the chart', (t) => {
  if (!prints('helm', ['version'], /Version:"v[3-9]/)) {
    console.error('NOT TESTED: what helm makes of deploy/helm: helm is not installed');
    return t.skip('no helm');
  }
  const args = ['--namespace', 'writ', '--kube-version', '1.30', '--values', '-'];
  const comparable = (list) => named(list.map((one) => {
    const copy = structuredClone(one); // YAML has more than one spelling, and the configuration's digest is of one
    if (copy.kind === 'ConfigMap') copy.data['writ.yaml'] = YAML.parse(copy.data['writ.yaml']);
    if (copy.kind === 'Deployment') delete copy.spec.template.metadata.annotations['checksum/configuration'];
    return copy;
  }));
  for (const [name, values] of Object.entries(VALUES)) {
    const real = read(must('helm', ['template', 'writ', CHART, ...args], JSON.stringify(values)));
    assert.deepEqual(comparable(rendered[name]), comparable(real), name);
  }
  must('helm', ['lint', CHART]);
});

// ---- the chart

test('the chart has the objects of the overlays and of the jobs', () => {
  const ADDED = /^(app\.kubernetes\.io\/(instance|version|managed-by)|helm\.sh\/chart)$/; // labels of a release
  const bare = (value) => (Array.isArray(value) ? sorted(value.map(bare))
    : value === null || typeof value !== 'object' ? value
      : Object.fromEntries(Object.entries(value).filter(([key]) => !ADDED.test(key) && key !== 'annotations'
        && key !== 'imagePullPolicy' && key !== 'namespace').map(([key, one]) => [key,
        key === 'writ.yaml' ? YAML.parse(one) : bare(one)])));
  // an overlay puts its volumes before those of the base
  const sorted = (list) => (list.every((one) => one?.name !== undefined)
    ? list.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : list);
  const common = (list) => named(bare(list).filter(({ kind }) => kind !== 'Namespace').map((one) =>
    JSON.parse(JSON.stringify(one).replace(/"writ-configuration-\w{10}"/g, '"writ-configuration"'))));
  assert.deepEqual(common(rendered.monitored), common(built['overlays/fleet']));
  assert.deepEqual(common(rendered.single), common(built['overlays/single']));
  // fsGroupChangePolicy matters to a volume that stays; the jobs have none
  for (const what of ['init', 'migrate']) {
    const job = bare(only(rendered[what], 'Job'));
    delete job.spec.template.spec.securityContext.fsGroupChangePolicy;
    assert.deepEqual(job, bare(only(built[`jobs/${what}`], 'Job')));
  }
});

test('another configuration replaces the pods', () => {
  const sum = (list) => only(list, 'Deployment').spec.template.metadata.annotations['checksum/configuration'];
  assert.match(sum(rendered.default), /^[0-9a-f]{64}$/);
  assert.equal(sum(rendered.default), sum(rendered.open));
  assert.notEqual(sum(rendered.default), sum(rendered.whole));
});

test('the schema of the values accepts what the chart is rendered with, and names what is wrong', () => {
  const check = new Ajv().compile(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')));
  const [defaults] = documents(join(CHART, 'values.yaml'));
  const verdict = (values) => (check(merged(defaults, values)) ? null
    : check.errors.map((e) => `${e.instancePath} ${e.params.additionalProperty ?? e.message}`)[0]);
  for (const [name, values] of Object.entries(VALUES)) assert.equal(verdict(values), null, name);
  const database = (uri) => ({ store: { postgresql: { uri } } });
  for (const [values, want] of [
    [{ replicas: 3 }, ' replicas'],
    [{ replicaCount: '3' }, '/replicaCount must be integer'],
    [{ store: { kind: 'sqlite' } }, '/replicaCount must be <= 1'],
    [merged(SINGLE, { ledgerJob: 'init' }), '/ledgerJob must be equal to constant'],
    [{ configuration: { store: 'sqlite://ledger.db' } }, '/configuration must NOT be valid'],
    [{ configuration: { ledger: { files: 'x' } } }, '/configuration/ledger must NOT be valid'],
    [database('postgresql://writ:secret@db/writ'), '/store/postgresql/uri must match pattern'],
    [database('postgresql://writ@db/writ?password=secret'), '/store/postgresql/uri must NOT be valid'],
    [database('sqlite://ledger.db'), '/store/postgresql/uri must match pattern'],
  ]) assert.ok(verdict(values)?.startsWith(want), `${JSON.stringify(values)}: ${verdict(values)}`);
  assert.equal(verdict(database('postgres://writ@a:5432,b:5433/writ?sslmode=verify-full')), null);
});

test('the chart refuses more than one gateway on SQLite, whatever the schema says', () => {
  const refused = (values, why) => assert.throws(() => render(CHART, { values }), why);
  refused({ store: { kind: 'sqlite' } }, /replicaCount: .* one process owns the ledger/);
  refused(merged(SINGLE, { ledgerJob: 'migrate' }), /ledgerJob: a ledger in SQLite/);
});

// ---- names, ports, versions, times

test('images and versions are those of the project', () => {
  const [meta] = documents(join(CHART, 'Chart.yaml'));
  assert.deepEqual([meta.version, meta.appVersion], [VERSION, VERSION]);
  for (const [name, list] of Object.entries(all)) {
    const want = { whole: 'registry.example/writ:9', readme: `registry.example.com/writ:${VERSION}` }[name];
    for (const { image } of podsOf(list).flatMap(({ spec }) => [...spec.initContainers, ...spec.containers])) {
      assert.equal(image, want ?? `writ:${VERSION}`, name);
    }
  }
  assert.match(source('docker/compose.yaml'), /^ {2}image: writ$/m);
});

test('the ports of the configuration, pods, Services, probes, policies and monitors are the same', () => {
  const [mcp, admin] = /^EXPOSE (\d+) (\d+)$/m.exec(source('docker/Dockerfile')).slice(1).map(Number);
  for (const [name, list] of gatewaysOf) {
    const config = YAML.parse(configuration(list));
    assert.deepEqual([config.listen, config.admin_listen], [`0.0.0.0:${mcp}`, `0.0.0.0:${admin}`], name);
    const { metadata, spec } = only(list, 'Deployment').spec.template;
    const [gateway] = spec.containers;
    assert.deepEqual(gateway.ports, [{ name: 'mcp', containerPort: mcp }, { name: 'admin', containerPort: admin }]);
    const services = of(list, 'Service');
    assert.deepEqual(services.map((s) => s.spec.ports), [[{ name: 'mcp', port: mcp, targetPort: 'mcp' }],
      [{ name: 'admin', port: admin, targetPort: 'admin' }]], name);
    for (const service of services) assert.ok(selects(service.spec.selector, metadata.labels), name);

    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => gateway[probe].httpGet);
    const scheme = config.admin_tls === undefined ? {} : { scheme: 'HTTPS' };
    assert.deepEqual(probes, ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'admin', ...scheme })));

    const policies = of(list, 'NetworkPolicy');
    const incoming = policies.flatMap((p) => p.spec.ingress ?? []).flatMap((rule) => rule.ports);
    assert.deepEqual(incoming.map((port) => port.port), ['closed', 'open'].includes(name) ? [] : ['mcp', 'admin']);
    for (const monitor of of(list, 'ServiceMonitor')) {
      const found = services.filter((s) => selects(monitor.spec.selector.matchLabels, s.metadata.labels));
      assert.equal(found.length, 1, name);
      assert.deepEqual(found[0].spec.ports.map((port) => port.name), monitor.spec.endpoints.map((e) => e.port));
      assert.equal(found[0].metadata.labels[monitor.spec.jobLabel], 'writ', 'the job of deploy/prometheus');
    }
  }
  assert.match(source('deploy/prometheus/writ.rules.yml'), /job="writ"/);
});

test('selectors find the gateways, and a policy denies everything first', () => {
  for (const [name, list] of gatewaysOf) {
    const { spec } = only(list, 'Deployment');
    const { labels } = spec.template.metadata;
    assert.ok(selects(spec.selector.matchLabels, labels), name);
    for (const spread of spec.template.spec.topologySpreadConstraints) {
      assert.ok(selects(spread.labelSelector.matchLabels, labels), name);
    }
    const budgets = of(list, 'PodDisruptionBudget');
    assert.equal(budgets.length, spec.replicas > 1 ? 1 : 0, name);
    for (const { spec: budget } of budgets) {
      assert.ok(selects(budget.selector.matchLabels, labels), name);
      assert.ok(budget.maxUnavailable < spec.replicas, name);
    }
    if (name === 'open') continue;
    const [deny, ...rest] = of(list, 'NetworkPolicy');
    assert.deepEqual([deny.spec.policyTypes, deny.spec.ingress, deny.spec.egress],
      [['Ingress', 'Egress'], undefined, undefined], name);
    const pods = podsOf(list).map((pod) => pod.metadata.labels);
    for (const one of pods) assert.ok(selects(deny.spec.podSelector.matchLabels, one), name);
    // a rule without peers, or with an empty list of them, admits every pod
    for (const rule of rest.flatMap((p) => [...(p.spec.ingress ?? []), ...(p.spec.egress ?? [])])) {
      assert.ok((rule.from ?? rule.to).length > 0, name);
    }
  }
  const jobs = podsOf(['jobs/init', 'jobs/migrate', 'init'].flatMap((name) => of(all[name], 'Job')));
  const fleet = built['overlays/fleet'];
  assert.equal(jobs.length, 3);
  for (const { metadata } of jobs) { // a job reaches the database, and is never taken for a gateway
    const reaching = of(fleet, 'NetworkPolicy').filter((p) => selects(p.spec.podSelector.matchLabels, metadata.labels));
    assert.deepEqual(reaching.map((p) => p.metadata.name), ['writ-deny', 'writ-egress', 'writ-database']);
    for (const service of of(fleet, 'Service')) assert.ok(!selects(service.spec.selector, metadata.labels));
  }
});

test('a pod has the time to end that the gateway takes', () => {
  const shutdown = source('gateway/service/shutdown.c');
  const seconds = (name) => Number(new RegExp(`^#define ${name}\\s[\\s\\\\]*(\\d+)`, 'm').exec(shutdown)[1]) / 1e6;
  // calls under way; messages that came late, and theirs; children; last messages
  const end = 2 * seconds('DRAIN_US') + 2 * seconds('TELL_US') + seconds('STOP_US');
  assert.ok(end > 0);
  for (const [name, list] of gatewaysOf) {
    const { spec } = only(list, 'Deployment').spec.template;
    const [command, pause] = spec.containers[0].lifecycle.preStop.exec.command;
    assert.equal(command, 'sleep');
    assert.ok(spec.terminationGracePeriodSeconds >= Number(pause) + end, `${name}: ${end} seconds and ${pause}`);
  }
  const start = /^TimeoutStartSec=(\d+)min$/m.exec(source('deploy/writ.service'))[1] * 60;
  for (const [, list] of gatewaysOf) {
    const { startupProbe } = only(list, 'Deployment').spec.template.spec.containers[0];
    assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold >= start);
  }
});

test('the way of replacing pods fits the store', () => {
  for (const [name, list] of gatewaysOf) {
    const { spec } = only(list, 'Deployment');
    const sqlite = YAML.parse(configuration(list)).store.startsWith('sqlite://');
    assert.equal(spec.strategy.type, sqlite ? 'Recreate' : 'RollingUpdate', name);
    assert.ok(!sqlite || spec.replicas <= 1, name);
    assert.equal(of(list, 'PersistentVolumeClaim').length, sqlite ? 1 : 0, name);
    const claims = spec.template.spec.volumes.filter((v) => v.persistentVolumeClaim);
    if (sqlite) assert.ok(YAML.parse(configuration(list)).store.startsWith('sqlite:///var/lib/writ/'), name);
    assert.equal(claims.length, sqlite ? 1 : 0, name);
  }
});

// ---- the configuration

test('writ check accepts every configuration', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-kubernetes-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, list] of gatewaysOf) {
    const file = join(dir, 'writ.yaml');
    writeFileSync(file, configuration(list));
    const run = writ(['check', file]);
    assert.equal(run.code, 0, `${name}: ${run.out}${run.err}`);
  }
});

/** The configuration with another store. */
function withStore(text, store) {
  const plain = text.replace(/^store: (?:"[^"]*"|\S+)$/m, () => `store: ${store}`); // the text may have two lines
  assert.equal(YAML.parse(plain).store, store);
  return plain;
}

test('the configurations of the overlays differ in their store alone', () => {
  const [single, fleet] = ['single', 'fleet'].map((name) => source(`deploy/kubernetes/overlays/${name}/writ.yaml`));
  assert.notEqual(single, fleet);
  assert.equal(withStore(fleet, YAML.parse(single).store), single);
});

test('the configuration names the Services, and the store the mounted files', () => {
  for (const [name, list] of gatewaysOf.filter(([one]) => one !== 'whole')) { // it has names of its own
    const config = YAML.parse(configuration(list));
    const names = of(list, 'Service').map((s) => s.metadata.name);
    const outer = ['', '.writ', '.writ.svc', '.writ.svc.cluster.local'];
    assert.deepEqual(config.hosts, names.flatMap((one) => outer.map((end) => one + end)), name);
    assert.deepEqual([config.public_url, config.admin_url].map((url) => new URL(url).hostname),
      names.map((one) => `${one}.writ.svc`), name);
    assert.equal(config.keys, '/run/writ/keys');
  }
});

test('the gateways and the jobs use one database, by roles and Secrets of their own', () => {
  const uses = [
    ...['overlays/fleet', 'default'].map((name) => ({ uri: YAML.parse(configuration(all[name])).store,
      secret: 'writ-database', role: 'writ', pod: podsOf(all[name])[0] })),
    ...['jobs/init', 'jobs/migrate', 'init', 'migrate'].map((name) => {
      const pod = only(all[name], 'Job').spec.template;
      return { uri: pod.spec.containers[0].env.find((e) => e.name === 'WRIT_STORE').value,
        secret: 'writ-database-maintenance', role: 'writ_maintenance', pod };
    }),
  ];
  for (const name of ['jobs/init', 'init']) { // the job gives the gateways' role its rights
    assert.deepEqual(only(all[name], 'Job').spec.template.spec.containers[0].command,
      ['writ', 'ledger', 'init', '--role', uses[0].role, '$(WRIT_STORE)']);
  }
  for (const { uri, secret, role, pod } of uses) {
    const [, user, rest] = /^postgresql:\/\/(\w+)@(.*)$/.exec(uri);
    assert.equal(user, role);
    assert.equal(rest, uses[0].uri.split('@')[1], 'another database');
    const parameters = Object.fromEntries(new URLSearchParams(rest.split('?')[1]));
    assert.deepEqual(parameters, { target_session_attrs: 'read-write', sslmode: 'verify-full',
      sslrootcert: '/run/writ/database/ca.crt' });
    assert.equal(pod.spec.volumes.find((v) => v.name === 'database').secret.secretName, secret);
    const env = pod.spec.containers[0].env.find((e) => e.name === 'PGPASSFILE');
    assert.equal(env.value, '/run/writ/database/pgpass');
    assert.ok(pod.spec.initContainers[0].volumeMounts.some((m) => m.name === 'database'
      && m.mountPath === '/run/secrets/writ/database'));
  }
});

// ---- a pod

/** A Secret as kubelet mounts it: links to a folder with a date, files that the group can read, all may write. */
function mountSecret(at, files) {
  const data = join(at, '..2026_11_24');
  mkdirSync(data, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(data, name), text);
    chmodSync(join(data, name), 0o440);
    symlinkSync(join('..data', name), join(at, name));
  }
  symlinkSync('..2026_11_24', join(at, '..data'));
  chmodSync(at, 0o1777);
}

function pod(t, { password = 'secret', user = 'writ', made = undefined } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-pod-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = (name) => join(dir, name);
  for (const name of ['run', 'state']) mkdirSync(path(name));
  for (const name of ['run', 'state']) chmodSync(path(name), 0o777); // an emptyDir
  if (made === undefined) assert.equal(writ(['keys', 'new', '--dir', path('made')]).code, 0);
  const keys = made ?? Object.fromEntries(readdirSync(path('made')).map((name) =>
    [name, readFileSync(join(path('made'), name))]));
  mountSecret(path('secrets/keys'), keys);
  mountSecret(path('secrets/database'), { pgpass: `*:*:*:${user}:${password}\n`, 'ca.crt': 'certificate\n' });
  const env = { ...process.env, PATH: `${dirname(BIN)}:${process.env.PATH}`, WRIT_SECRETS: path('secrets'),
    WRIT_RUN: path('run'), WRIT_STATE: path('state') };
  const prepare = (...args) => {
    const run = spawnSync(join(SOURCE, 'docker/prepare'), args, { env, encoding: 'utf8' });
    assert.equal(run.status, 0, run.stdout + run.stderr);
  };
  return { path, keys, prepare };
}

/** A configuration with the folders of this pod, and ports that the system chooses. */
const inPod = (text, path) => text.replaceAll('/var/lib/writ', path('state')).replaceAll('/run/writ', path('run'))
  .replaceAll('0.0.0.0:8700', '0.0.0.0:0').replaceAll('0.0.0.0:8701', '0.0.0.0:0');

test('the gateway starts from what a pod mounts, is ready under its address, and keeps its ledger', async (t) => {
  const { path, prepare } = pod(t);
  prepare('--new-ledger');
  writeFileSync(path('writ.yaml'), inPod(configuration(built['overlays/single']), path));
  const gateway = await serveFolder(t, path('.'));
  await gateway.waitLog('ready');
  const addresses = Object.values(networkInterfaces()).flat().filter((a) => a.family === 'IPv4').map((a) => a.address);
  assert.ok(addresses.length > 0);
  for (const address of addresses) { // as kubelet and Prometheus ask
    const origin = `http://${address}:${gateway.adminPort}`;
    for (const [probe, status] of [['/healthz', 200], ['/readyz', 200], ['/metrics', 200]]) {
      assert.equal((await send(origin, { method: 'GET', path: probe })).status, status, `${origin}${probe}`);
    }
  }
  const asked = (host) => send(gateway.origin, { method: 'GET', path: '/.well-known/jwks.json', headers: { host } });
  assert.equal((await asked('writ.writ.svc:8700')).status, 200);
  assert.equal((await asked('elsewhere.example')).status, 403);
  assert.equal((await gateway.stop()).code, 0);

  const ledger = join(path('state'), 'gateway/ledger.db');
  const inode = statSync(ledger).ino;
  chmodSync(ledger, 0o660); // kubelet applied fsGroup again
  prepare('--new-ledger');
  assert.equal(statSync(ledger).ino, inode);
  await (await serveFolder(t, path('.'))).stop();
});

test('the job makes the ledger in PostgreSQL, and three gateways are ready with it', async (t) => {
  const cluster = await startCluster(t, { password: 'top' });
  await cluster.standby(t, { synchronous: true });
  // the cluster's own role and database have the names that the manifests use: the roles and the database here end in 2
  await cluster.sql(`CREATE ROLE writ_maintenance2 LOGIN PASSWORD 'kept';
    CREATE ROLE writ2 LOGIN PASSWORD 'shared'`);
  await cluster.sql('CREATE DATABASE writ2 OWNER writ_maintenance2');
  const here = (uri) => { // the servers have no certificate
    const [, user] = /^postgresql:\/\/(\w+)@/.exec(uri);
    assert.match(uri, /[?&]target_session_attrs=read-write\b/);
    return cluster.uri({ user: `${user}2`, database: 'writ2', params: 'target_session_attrs=read-write' });
  };

  const [job] = only(built['jobs/init'], 'Job').spec.template.spec.containers;
  const maintenance = pod(t, { user: 'writ_maintenance2', password: 'kept' });
  maintenance.prepare();
  const environment = ({ path }) => ({ ...process.env, PGPASSFILE: path('run/database/pgpass') });
  const [program, ...args] = job.command;
  assert.equal(program, 'writ');
  const words = { writ: 'writ2', '$(WRIT_STORE)': here(job.env.find((e) => e.name === 'WRIT_STORE').value) };
  const made = writ(args.map((word) => words[word] ?? word), { env: environment(maintenance) });
  assert.equal(made.code, 0, made.out + made.err);

  const text = configuration(built['overlays/fleet']);
  const { keys } = maintenance;
  const gateways = await Promise.all(['a', 'b', 'c'].map(async (name) => {
    const one = pod(t, { user: 'writ2', password: 'shared', made: keys });
    one.prepare();
    writeFileSync(one.path('writ.yaml'), withStore(inPod(text, one.path), here(YAML.parse(text).store))
      .replace('ledger: {', `ledger: {gateway: ${name}, `)); // pods differ in their host
    const gateway = await serveFolder(t, one.path('.'), { env: environment(one) });
    await gateway.waitLog('ready');
    return gateway;
  }));
  for (const gateway of gateways) assert.match((await gateway.admin('/readyz')).text, /^ledger: ok$/m);
  for (const gateway of gateways) assert.equal((await gateway.stop()).code, 0);
});

test('the gateway serves TLS with the mounted certificate of the chart', async (t) => {
  const { path, prepare } = pod(t);
  prepare('--new-ledger');
  must(join(SOURCE, 'certs/make-dev-certs'), ['-d', path('certs')]);
  mountSecret(path('tls'), { 'tls.crt': readFileSync(path('certs/server.pem')),
    'tls.key': readFileSync(path('certs/server.key')) });
  const values = merged(SINGLE, { tls: { secretName: 'writ-tls' } });
  const text = configuration(objects(render(CHART, { values }))).replaceAll('/run/secrets/writ/tls', path('tls'));
  writeFileSync(path('writ.yaml'), inPod(text, path));
  const gateway = await serveFolder(t, path('.'));
  await gateway.waitLog('ready');
  assert.deepEqual(gateway.log.filter((l) => l.event === 'listening').map((l) => l.tls), [true, true]);
});

test('prepare leaves files that the gateway and libpq accept, and follows a Secret that changed', (t) => {
  const { path, keys, prepare } = pod(t);
  prepare();
  const mode = (name) => statSync(path(name)).mode & 0o777;
  const copied = readdirSync(path('run/keys'));
  assert.deepEqual(copied.sort(), Object.keys(keys).sort());
  assert.equal(writ(['keys', 'list', '--dir', path('run/keys')]).code, 0);
  for (const name of ['run/keys', 'run/database', 'state/gateway']) assert.equal(mode(name), 0o700, name);
  for (const name of [...copied.map((one) => `run/keys/${one}`), 'run/database/pgpass', 'run/database/ca.crt']) {
    assert.equal(mode(name), 0o600, name);
  }
  assert.deepEqual(readdirSync(path('state/gateway')), [], 'no ledger unless it is asked for');

  rmSync(path('secrets/database'), { recursive: true });
  mountSecret(path('secrets/database'), { pgpass: '*:*:*:writ:other\n' });
  prepare();
  assert.deepEqual(readdirSync(path('run/database')), ['pgpass']);
  assert.match(readFileSync(path('run/database/pgpass'), 'utf8'), /:other$/m);
});

test('prepare makes a ledger in an empty volume, and none in the place of a lost one', (t) => {
  const { path, prepare } = pod(t);
  const ledger = path('state/gateway/ledger.db');
  mkdirSync(path('state/gateway.new')); // a pod that was killed half-way
  writeFileSync(path('state/gateway.new/ledger.db'), '');
  prepare('--new-ledger');
  assert.equal(writ(['ledger', 'verify', ledger]).code, 0);
  renameSync(ledger, path('lost'));
  prepare('--new-ledger');
  assert.ok(!existsSync(ledger));
});
