// kustomize.mjs - builds a kustomization: as much of kustomize as the ones of deploy/kubernetes use, and an error for
// anything else. `kubectl kustomize`, where there is one, builds the same objects
// (tests/integration/kubernetes.test.mjs compares).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const npm = createRequire(new URL('../npm/package.json', import.meta.url));
const { default: YAML } = await import(pathToFileURL(npm.resolve('yaml')));

const MEMBERS = ['apiVersion', 'kind', 'namespace', 'nameSuffix', 'resources', 'components', 'configMapGenerator',
  'patches', 'images'];
// the member by which an entry of a list is found (patchMergeKey of the Kubernetes API); other lists are replaced
const KEYS = { containers: 'name', initContainers: 'name', volumes: 'name', env: 'name', volumeMounts: 'mountPath' };
const CLUSTER_WIDE = ['Namespace'];

/** The documents of a YAML file. */
export const documents = (path) => YAML.parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
  if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0].message}`);
  return document.toJS();
}).filter((one) => one !== null);

const isMap = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** A strategic merge. */
function patched(base, patch, name) {
  if (isMap(patch)) {
    assert.ok(!Object.keys(patch).some((key) => key.startsWith('$')), `a directive in ${name}`);
    const result = isMap(base) ? { ...base } : {};
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) delete result[key];
      else result[key] = patched(result[key], value, key);
    }
    return result;
  }
  if (!Array.isArray(patch) || KEYS[name] === undefined || base === undefined) return patch;
  const same = (one) => (other) => other[KEYS[name]] === one[KEYS[name]];
  return [...patch.filter((one) => !base.some(same(one))),
    ...base.map((one) => (patch.some(same(one)) ? patched(one, patch.find(same(one)), '') : one))];
}

/** kustomize's digest of a generated ConfigMap: ten hex digits of the JSON that Go would write, without vowels. The
 * name in it is empty, because kustomize looks it up in a place where it is not. */
function suffixOf({ data }) {
  const text = JSON.stringify({ data, kind: 'ConfigMap', name: '' })
    .replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const plain = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };
  return createHash('sha256').update(text).digest('hex').slice(0, 10).replace(/[013ae]/g, (c) => plain[c]);
}

const generated = (folder, { name, files, options: { labels, ...others }, ...rest }) => {
  assert.deepEqual([rest, others], [{}, {}], `${folder}: configMapGenerator`);
  const data = Object.fromEntries([...files].sort().map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data };
};

/** Every map of a value, itself first. */
function* maps(value) {
  if (isMap(value)) yield value;
  if (value !== null && typeof value === 'object') for (const one of Object.values(value)) yield* maps(one);
}

function applyPatch(objects, folder, { path, ...rest }) {
  assert.deepEqual(rest, {}, `${folder}: patches`);
  const [{ $patch, ...patch }] = documents(join(folder, path));
  const at = objects.findIndex((one) => one.kind === patch.kind && one.metadata.name === patch.metadata.name);
  assert.ok(at >= 0, `${folder}/${path}: no such object`);
  assert.ok($patch === undefined || $patch === 'delete', `${folder}/${path}: $patch`);
  objects.splice(at, 1, ...($patch === 'delete' ? [] : [patched(objects[at], patch, '')]));
}

function rename(objects, images) {
  for (const { name, newName = name, newTag, ...rest } of images) {
    assert.deepEqual(rest, {}, 'images');
    for (const map of objects.flatMap((one) => [...maps(one)])) {
      const [, old, tag] = /^([^:]*):?(.*)$/.exec(typeof map.image === 'string' ? map.image : '');
      if (old === name) map.image = `${newName}:${newTag ?? tag}`;
    }
  }
}

function build(folder) {
  const file = join(folder, 'kustomization.yaml');
  const [all] = documents(file);
  for (const member of Object.keys(all)) assert.ok(MEMBERS.includes(member), `${file}: ${member}`);
  const read = (name) => (name.endsWith('.yaml') ? documents(join(folder, name)) : build(join(folder, name)));
  const objects = [...(all.resources ?? []), ...(all.components ?? [])].flatMap(read);
  for (const map of all.configMapGenerator ?? []) objects.push({ ...generated(folder, map), hashed: true });
  for (const patch of all.patches ?? []) applyPatch(objects, folder, patch);
  rename(objects, all.images ?? []);
  for (const one of objects) {
    if (all.nameSuffix !== undefined) one.metadata.name += all.nameSuffix;
    if (all.namespace !== undefined && !CLUSTER_WIDE.includes(one.kind)) one.metadata.namespace = all.namespace;
  }
  return objects;
}

/** The objects of a kustomization. */
export function kustomize(folder) {
  const objects = build(folder);
  for (const one of objects.filter((o) => o.hashed)) {
    delete one.hashed;
    const plain = one.metadata.name;
    one.metadata.name += `-${suffixOf(one)}`;
    for (const { configMap } of objects.flatMap((o) => [...maps(o)])) {
      if (configMap?.name === plain) configMap.name = one.metadata.name;
    }
  }
  return objects;
}
