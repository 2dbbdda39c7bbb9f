// A second evaluator of policies, written for the eye and not for speed, to hold `policy/` against.
// It shares no code and no method with it: numbers are fractions of BigInts, patterns are
// JavaScript's, paths are resolved as lists, coverage is computed by listing leaves.

// ---- JSON with the source text of its numbers

export class Num {
  constructor(source) {
    this.source = source;
  }
  toJSON() {
    return JSON.rawJSON(this.source);
  }
}

export const parse = (text) =>
  JSON.parse(text, (key, value, context) => (typeof value === 'number' ? new Num(context.source) : value));

export const print = (value) => JSON.stringify(value);

class NoAnswer extends Error {}

// ---- numbers: [numerator, denominator]

function fraction(source) {
  const [, sign, whole, , part = '', exponent = '0'] = /^(-?)(\d+)(\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source);
  const digits = BigInt(whole + part);
  const shift = BigInt(exponent) - BigInt(part.length);
  const n = sign ? -digits : digits;
  return shift >= 0n ? [n * 10n ** shift, 1n] : [n, 10n ** -shift];
}

// More digits than a decimal holds (34, without zeros at the end) have no answer.
function exact(source) {
  const [n, d] = fraction(source);
  const significant = String(n < 0n ? -n : n).replace(/0+$/, '');
  if (significant.length > 34) throw new NoAnswer();
  return [n, d];
}

const compare = ([a, b], [c, d]) => (a * d < c * b ? -1 : a * d > c * b ? 1 : 0);

// A number of a call: its text must survive forwarding.
export const isExact = (num) => compare(fraction(num.source), fraction(String(Number(num.source)))) === 0;
function amount(num) {
  if (!isExact(num)) throw new NoAnswer();
  return exact(num.source);
}

// ---- values

const typeOf = (v) =>
  v === null ? 'null' : v instanceof Num ? 'number' : Array.isArray(v) ? 'array' : typeof v;

// Compares a value of a call with one of a policy.
function same(a, b) {
  if (typeOf(a) !== typeOf(b)) return false;
  switch (typeOf(a)) {
    case 'number':
      return compare(amount(a), exact(b.source)) === 0;
    case 'array':
      return a.length === b.length && a.every((x, i) => same(x, b[i]));
    case 'object':
      return (
        Object.keys(a).length === Object.keys(b).length &&
        Object.keys(a).every((k) => Object.hasOwn(b, k) && same(a[k], b[k]))
      );
    default:
      return a === b;
  }
}

const differs = (value, others) => {
  const typed = others.filter((o) => o !== null);
  return (
    !others.some((o) => same(value, o)) && (typed.length === 0 || typed.some((o) => typeOf(o) === typeOf(value)))
  );
};

// ---- paths, hosts, patterns

const CONTROL = /[\u0000-\u001f\u007f\u0080-\u009f]/u;
// `..` as Windows (spaces, dots), forms (+), Java (;), NTFS (:) and URLs (? #) read it
const isParent = (part) => /^[ +]*\.[ +]*\.[ +]*(?:[;:?#].*)?$/s.test(part)
  || /^(?=[^;:?#]*\.[^;:?#]*\.)(?=[^;:?#]*[ +])[. +]+(?:[;:?#].*)?$/s.test(part);
const climbs = (text) => text.split('/').some(isParent);
const ENTITY = /&#[xX]([0-9a-fA-F]+);?|&#([0-9]+);?|&(?:(amp|AMP|nbsp|shy|yen);?|([A-Za-z0-9]+);)/g;
const NAMED = { amp: '&', AMP: '&', nbsp: '\u00a0', shy: '\u00ad', yen: '\u00a5', period: '.', nldr: '\u2025', sol: '/',
  bsol: '\\', setminus: '\u2216', Backslash: '\u2216', frasl: '\u2044', num: '#', percnt: '%', plus: '+', semi: ';',
  colon: ':', Colone: '\u2a74',
  quest: '?', Tab: '\t', NewLine: '\n', ZeroWidthSpace: '\u200b', zwj: '\u200d', hellip: '\u2026', ensp: '\u2002' };
const ofPoint = (point) =>
  (point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : '_');
const devious = (text) => CONTROL.test(text) || text.includes('\\') || climbs(text)
  || ((/[%\u{80}-\u{10ffff}]/u.test(text) || unentitled(bytesOf(text)) !== bytesOf(text)) &&
    (Buffer.byteLength(text) > 4096 || disguised(text)));

// On the bytes of a text, as a string of Latin-1.
const bytesOf = (text) => Buffer.from(text).toString('latin1');
const OVERLONG = [['\xc0\xae', '.'], ['\xe0\x80\xae', '.'], ['\xf0\x80\x80\xae', '.'],
  ['\xc0\xaf', '/'], ['\xc1\x9c', '/'], ['\xe0\x80\xaf', '/'], ['\xe0\x81\x9c', '/'], ['\xf0\x80\x80\xaf', '/']];

/** The forms of a name that a normalizing file system or framework may use: NFKC, look-alikes, without invisible
 * characters. */
export const folded = (text) => text.normalize('NFKC').replace(/[\p{DI}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
  .replace(/[\u2044\u2215\u29f8\u2216\u29f5\\]/g, '/').replace(/[\u3002\uff61]/g, '.').replace(/[\u00a5\u20a9]/g, '/');

function unentitled(bytes) {
  return bytes.replace(ENTITY, (all, hex, decimal, short, name) => {
    if (hex ?? decimal) return bytesOf(ofPoint(hex ? parseInt(hex, 16) : Number(decimal)));
    const named = NAMED[short ?? name];
    return named === undefined ? all : bytesOf(named);
  });
}

function decodedOnce(bytes) {
  let text = unentitled(bytes);
  for (const [from, to] of OVERLONG) text = text.replaceAll(from, to);
  text = text.replace(/%([0-9a-f]{2})|%u([0-9a-f]{4})/gi, (_, two, four) =>
    (two ? String.fromCharCode(parseInt(two, 16)) : bytesOf(String.fromCharCode(parseInt(four, 16)))));
  const characters = Buffer.from(text, 'latin1').toString();
  return characters.includes('\ufffd') ? text : bytesOf(folded(characters));
}

const deviousBytes = (bytes) => /[\x00-\x1f\x7f\\]|\xc2[\x80-\x9f]/.test(bytes) || climbs(bytes);

function disguised(path) {
  let text = bytesOf(path);
  for (let round = 0; round < 5; round++) {
    const next = decodedOnce(text);
    if (next === text) return false;
    if (deviousBytes(next)) return true;
    text = next;
  }
  return true;
}

function under(path, directory) {
  if (Buffer.byteLength(path) > 4096 || !path.startsWith('/') || path.startsWith('//')) return false;
  if (devious(path)) return false;
  const parts = path.split('/').filter((p) => p !== '' && p !== '.');
  const wanted = directory.split('/').filter((p) => p !== '');
  return wanted.every((p, i) => parts[i] === p);
}

function globToRegExp(pattern) {
  let out = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === '\\') {
      out += pattern[++i].replace(/[.*+?^${}()|[\]\\/-]/, '\\$&');
    } else if (c === '*' && pattern[i + 1] === '*') {
      out += '[\\s\\S]*';
      i++;
    } else if (c === '*') out += '[^/]*';
    else if (c === '?') out += '[^/]';
    else if (c === '[') {
      const negated = pattern[i + 1] === '!';
      const from = i + (negated ? 2 : 1);
      const end = pattern.indexOf(']', from + 1);
      const body = pattern.slice(from, end).replace(/[\\\]^[]/g, '\\$&');
      out += `(?!/)[${negated ? '^' : ''}${body}]`;
      i = end;
    } else out += c.replace(/[.*+?^${}()|[\]\\/-]/, '\\$&');
  }
  return new RegExp(`^(?:${out})$`, 'u');
}

function glob(text, pattern) {
  if ((pattern.includes('/') || pattern.includes('**')) && devious(text)) return false;
  return globToRegExp(pattern).test(text);
}

// ---- constraints

const own = (value, token) => {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
  return typeOf(value) === 'object' && Object.hasOwn(value, token) ? value[token] : undefined;
};
const tokens = (arg = '') =>
  arg.startsWith('/')
    ? arg.slice(1).split('/').map((t) => t.replaceAll('~1', '/').replaceAll('~0', '~'))
    : arg === '' ? [] : [arg];
const find = (value, arg) => tokens(arg).reduce((v, t) => (v === undefined ? v : own(v, t)), value);

const bound = (v) => exact(v instanceof Num ? v.source : v);
const length = (v) => Number(v instanceof Num ? v.source : v);
const listOf = (v) => (Array.isArray(v) ? v : [v]);
const onString = (fn) => (v, c) => typeof v === 'string' && fn(v, c);
const onNumber = (fn) => (v, c) => v instanceof Num && fn(compare(amount(v), bound(c)));

const OPS = {
  eq: (v, c) => same(v, c),
  ne: (v, c) => differs(v, [c]),
  in: (v, c) => c.some((o) => same(v, o)),
  not_in: (v, c) => differs(v, c),
  lt: onNumber((o) => o < 0),
  le: onNumber((o) => o <= 0),
  gt: onNumber((o) => o > 0),
  ge: onNumber((o) => o >= 0),
  type: (v, c) =>
    listOf(c).some((t) => t === 'any' || t === typeOf(v)) ||
    (listOf(c).includes('integer') && v instanceof Num && amount(v)[0] % amount(v)[1] === 0n),
  min_length: onString((v, c) => [...v].length >= length(c)),
  max_length: onString((v, c) => [...v].length <= length(c)),
  prefix: onString((v, c) => v.startsWith(c)),
  suffix: onString((v, c) => v.endsWith(c)),
  matches: onString((v, c) => new RegExp(`^(?:${c})$`, 'u').test(v)),
  not_matches: onString((v, c) => !new RegExp(`^(?:${c})$`, 'u').test(v)),
  glob: onString((v, c) => listOf(c).some((p) => glob(v, p))),
  under: onString((v, c) => listOf(c).some((d) => under(v, d))),
  each: (v, c) => Array.isArray(v) && v.every((e) => listOf(c).every((n) => holds(n, e))),
  min_items: (v, c) => Array.isArray(v) && v.length >= length(c),
  max_items: (v, c) => Array.isArray(v) && v.length <= length(c),
  required: (v) => v !== null,
  forbidden: () => false,
};

export function holds(constraint, value) {
  const found = find(value, constraint.arg);
  if (found === undefined) return constraint.optional === true || constraint.op === 'forbidden';
  if (found === null && constraint.nullable) return true;
  return OPS[constraint.op](found, constraint.value);
}

/** "hold", "fail" or "error". */
export function result(constraint, value) {
  try {
    return holds(constraint, value) ? 'hold' : 'fail';
  } catch (error) {
    if (error instanceof NoAnswer) return 'error';
    throw error;
  }
}

const pointer = (path) => path.map((t) => '/' + String(t).replaceAll('~', '~0').replaceAll('/', '~1')).join('');

// What does not hold: [path of the argument, names of the constraints around it].
function failed(constraint, value) {
  const here = tokens(constraint.arg);
  const names = [[constraint.arg, constraint.op].filter((word) => word).join(' ')];
  const array = find(value, constraint.arg);
  if (constraint.op !== 'each' || !Array.isArray(array)) return [here, names];
  for (const [index, element] of array.entries()) {
    const inner = listOf(constraint.value).find((c) => result(c, element) !== 'hold');
    if (inner !== undefined) {
      const [path, below] = failed(inner, element);
      return [[...here, index, ...path], [...names, ...below]];
    }
  }
}

// ---- coverage: every leaf, as a path, must be named

function* leaves(value, path = []) {
  const inside = Array.isArray(value) ? value.entries() : typeOf(value) === 'object' ? Object.entries(value) : [];
  let any = false;
  for (const [key, child] of inside) {
    any = true;
    yield* leaves(child, [...path, String(key)]);
  }
  if (!any) yield path;
}

const beginsWith = (path, start) => start.every((t, i) => path[i] === t);

// Whether one of the constraints names the leaf at `path` of `value`.
function names(constraints, value, path) {
  return constraints.some((c) => {
    const start = tokens(c.arg);
    if (!beginsWith(path, start)) return false;
    if (path.length === start.length) return true;
    const types = c.op === 'type' && listOf(c.value).includes('any');
    if (c.op === 'eq' || c.op === 'in' || types) return true;
    const array = find(value, c.arg);
    if (c.op !== 'each' || !Array.isArray(array)) return false;
    return names(listOf(c.value), array[Number(path[start.length])], path.slice(start.length + 1));
  });
}

export const unlisted = (constraints, args) => {
  for (const path of leaves(args)) {
    if (path.length > 0 && !names(constraints, args, path)) return pointer(path);
  }
  return null;
};

// ---- templates and whole rules

const encoded = (text) =>
  [...Buffer.from(text)]
    .map((b) => (/[A-Za-z0-9._~-]/.test(String.fromCharCode(b)) ? String.fromCharCode(b)
      : '%' + b.toString(16).toUpperCase().padStart(2, '0')))
    .join('');

export function fill(template, args) {
  let missing = false;
  const text = template.replace(/\{([^}]*)\}/g, (_, name) => {
    const value = find(args, name);
    const plain = value instanceof Num ? String(Number(value.source)) : typeof value === 'boolean'
      ? String(value) : value;
    missing ||= typeof plain !== 'string' || ['', '.', '..'].includes(plain);
    return missing ? '' : encoded(plain);
  });
  return missing || Buffer.byteLength(text) > 4096 ? null : text;
}

// The place of the first number that would change when forwarded.
function inexact(value, path = []) {
  if (value instanceof Num) return isExact(value) ? undefined : path;
  const inside = Array.isArray(value) ? value.entries() : typeOf(value) === 'object' ? Object.entries(value) : [];
  for (const [key, child] of inside) {
    const found = inexact(child, [...path, key]);
    if (found !== undefined) return found;
  }
}

/** {decision, reason, argument, constraint, scope} of a call under one rule {scope, arguments}. */
export function judge(rule, args) {
  const constraints = rule.arguments ?? [];
  const number = inexact(args);
  if (number !== undefined)
    return { decision: 'deny', reason: 'number_not_exact', argument: pointer(number), scope: null };
  const scope = fill(rule.scope, args);
  const deny = (reason, argument, constraint) => ({ decision: 'deny', reason, argument, constraint, scope });
  const leaf = unlisted(constraints, args);
  if (leaf !== null) return deny('argument_not_listed', leaf);
  for (const c of constraints) {
    const answer = result(c, args);
    if (answer === 'hold') continue;
    const [path, names] = failed(c, args);
    return deny(answer === 'fail' ? 'constraint_failed' : 'constraint_error', pointer(path), names.join(', '));
  }
  return scope === null ? deny('scope_missing') : { decision: 'allow', reason: 'policy_ok', scope };
}
