// ocsf.mjs - a validator of events against the published schema in vectors/ocsf, written from its metaschema: an event
// is valid when its class with all that it extends knows each attribute, each required one is there, types,
// enumerations and captions hold, and the constraints of every object do.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE } from './gateway.mjs';

const ROOT = join(SOURCE, 'vectors/ocsf');
const load = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const dictionary = load('dictionary.json');
const categories = load('categories.json').attributes;
export const VERSION = load('version.json').version;

/** All files of a folder by the name that is in them. */
function folder(name) {
  const found = new Map();
  for (const entry of readdirSync(join(ROOT, name), { recursive: true })) {
    if (!entry.endsWith('.json')) continue;
    const value = load(join(name, entry));
    found.set(value.name, value);
  }
  return found;
}
const classes = folder('events');
const objects = folder('objects');

/** The attributes of a class or an object with what it extends and includes, and which profile has each. */
const merged = new Map();
function resolve(set, name) {
  const key = `${set === classes ? 'class' : 'object'} ${name}`;
  if (merged.has(key)) return merged.get(key);
  const own = set.get(name);
  if (!own) throw new Error(`the schema has no ${key}`);
  const base = own.extends ? resolve(set, own.extends) : { attributes: {}, constraints: {} };
  const attributes = { ...base.attributes };
  const take = (more, profile) => {
    for (const [attribute, rule] of Object.entries(more)) {
      if (attribute.startsWith('$')) continue;
      const before = attributes[attribute] ?? {};
      attributes[attribute] = { ...before, ...rule, enum: { ...before.enum, ...rule.enum },
        profile: rule.profile !== undefined ? rule.profile : before.profile ?? profile };
    }
  };
  for (const included of [own.attributes?.$include ?? []].flat()) {
    const profile = load(included);
    take(profile.attributes, profile.name);
  }
  take(own.attributes ?? {});
  const value = { attributes, constraints: { ...base.constraints, ...own.constraints }, own,
    category: own.category ?? base.category };
  merged.set(key, value);
  return value;
}

const SCALARS = {
  boolean_t: (v) => typeof v === 'boolean',
  integer_t: Number.isSafeInteger,
  long_t: Number.isSafeInteger,
  float_t: Number.isFinite,
  string_t: (v) => typeof v === 'string',
  json_t: () => true,
};

function checkScalar(type, value, at, faults) {
  const rule = dictionary.types.attributes[type];
  if (!SCALARS[rule?.type ?? type]?.(value)) faults.push(`${at}: not a ${type}`);
  else if (rule?.regex && !new RegExp(rule.regex).test(value)) faults.push(`${at}: not in the form of ${type}`);
  else if (rule?.max_len && value.length > rule.max_len) faults.push(`${at}: longer than ${rule.max_len}`);
  else if (rule?.range && (value < rule.range[0] || value > rule.range[1])) faults.push(`${at}: out of range`);
}

/** The enumeration of an attribute: that of the dictionary and those of the class. */
const enumOf = (word, rule) => ({ ...dictionary.attributes[word]?.enum, ...rule.enum });

function checkOne(word, rule, type, value, at, profiles, faults) {
  if (!type.endsWith('_t')) return checkObject(type, value, at, profiles, faults);
  checkScalar(type, value, at, faults);
  const words = enumOf(word, rule);
  if (Object.keys(words).length > 0 && !(value in words)) faults.push(`${at}: ${value} is not one of its values`);
  return undefined;
}

/** Members against the attributes: all known, all required ones there, and the constraints. */
function checkMembers({ attributes, constraints }, value, at, profiles, faults) {
  for (const [word, member] of Object.entries(value)) {
    const rule = attributes[word];
    if (!rule) {
      faults.push(`${at}/${word}: not an attribute of it`);
    } else if (rule.profile && !profiles.includes(rule.profile)) {
      faults.push(`${at}/${word}: is of the profile ${rule.profile}, which metadata.profiles does not name`);
    } else {
      const type = rule.type ?? dictionary.attributes[word].type;
      const isList = dictionary.attributes[word].is_array === true;
      if (isList && !Array.isArray(member)) faults.push(`${at}/${word}: not a list`);
      for (const item of isList ? [member].flat() : [member]) {
        checkOne(word, rule, type, item, `${at}/${word}`, profiles, faults);
      }
    }
    checkCaption(word, rule, value, at, faults);
  }
  for (const [word, rule] of Object.entries(attributes)) {
    if (rule.requirement === 'required' && !(word in value) && (!rule.profile || profiles.includes(rule.profile))) {
      faults.push(`${at}/${word}: required`);
    }
  }
  if (constraints.at_least_one && !constraints.at_least_one.some((word) => word in value)) {
    faults.push(`${at}: needs one of ${constraints.at_least_one}`);
  }
}

/** `severity` is the caption of `severity_id`; with 99 any text, which must be there. */
function checkCaption(word, rule, value, at, faults) {
  const sibling = dictionary.attributes[word]?.sibling;
  if (!sibling || !rule) return;
  const caption = enumOf(word, rule)[value[word]]?.caption;
  if (value[word] === 99 && typeof value[sibling] !== 'string') faults.push(`${at}/${sibling}: required with 99`);
  if (value[word] !== 99 && caption && value[sibling] !== undefined && value[sibling] !== caption) {
    faults.push(`${at}/${sibling}: is "${value[sibling]}", and ${value[word]} means "${caption}"`);
  }
}

function checkObject(type, value, at, profiles, faults) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return faults.push(`${at}: not an object`);
  if (type === 'object') return undefined; // of any members
  return checkMembers(resolve(objects, type), value, at, profiles, faults);
}

const uidOf = (c) => (categories[resolve(classes, c.name).category]?.uid ?? 0) * 1000 + (c.uid ?? 0);

/** The faults of an event; none: it is valid. */
export function faultsOf(event) {
  const faults = [];
  const own = [...classes.values()].find((c) => uidOf(c) === event.class_uid);
  if (!own) return [`class_uid ${event.class_uid} is not in the schema`];
  const whole = resolve(classes, own.name);
  const attributes = { ...whole.attributes };
  // each class has its own values of these
  attributes.class_uid = { ...attributes.class_uid, enum: { [event.class_uid]: {} } };
  attributes.category_uid = { ...attributes.category_uid, enum: { [categories[whole.category].uid]: {} } };
  checkMembers({ attributes, constraints: whole.constraints }, event, '', event.metadata?.profiles ?? [], faults);
  if (event.type_uid !== event.class_uid * 100 + event.activity_id) faults.push('/type_uid: of another activity');
  if (event.metadata?.version !== VERSION) faults.push(`/metadata/version: the schema is ${VERSION}`);
  return faults;
}

/** The caption of an id of an attribute of a class, undefined when it has none. */
export function captionOf(classUid, attribute, id) {
  const own = [...classes.values()].find((c) => uidOf(c) === classUid);
  const rule = resolve(classes, own.name).attributes[attribute];
  return { ...dictionary.attributes[attribute].enum, ...rule.enum }[id]?.caption;
}
