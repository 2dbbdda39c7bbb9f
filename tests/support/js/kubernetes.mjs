// kubernetes.mjs - validates objects by the schemas of the Kubernetes API and of the Prometheus Operator, as the
// packages kubernetes-models and @kubernetes-models/prometheus-operator have them.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const npm = createRequire(new URL('../npm/package.json', import.meta.url));
const packages = join(dirname(npm.resolve('yaml/package.json')), '..');
const OPERATOR = 'monitoring.coreos.com';

async function model({ apiVersion, kind }) {
  const home = apiVersion.startsWith(`${OPERATOR}/`) ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
  const file = join(packages, home, apiVersion, `${kind}.js`);
  try {
    return (await import(pathToFileURL(file)))[kind];
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') throw new Error(`${apiVersion} ${kind}: no such kind`);
    throw error;
  }
}

/** A view of a value that notes which members were read, in `read`: Map of object -> Set of names. */
function watched(value, read) {
  if (value === null || typeof value !== 'object') return value;
  const names = new Set();
  read.set(value, names);
  const views = new Map();
  return new Proxy(value, {
    get(target, name) {
      names.add(name);
      if (!views.has(name)) views.set(name, watched(target[name], read));
      return views.get(name);
    },
  });
}

/** Paths of members that a validator never read, so that no schema knows them. */
function unread(value, read, path) {
  if (value === null || typeof value !== 'object' || !read.has(value)) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    (read.get(value).has(name) ? unread(one, read, `${path}/${name}`) : [`${path}/${name}: unknown`]));
}

/** What the schemas find wrong with an object: texts, none if it is valid. */
export async function faults(object) {
  const Model = await model(object);
  const read = new Map();
  // the schemas ignore what they do not know; the API server drops it, or refuses it with strict validation
  const view = watched(object, read);
  try {
    Model.prototype.validate.call(view);
  } catch (error) {
    return [error.message];
  }
  return unread(object, read, '');
}
