// helm.mjs - renders a Helm chart: as much of Go's text/template and of Helm's functions as the chart of deploy/helm
// uses, and an error for anything else. `helm` itself, where there is one, renders the same objects
// (tests/integration/kubernetes.test.mjs compares).
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const npm = createRequire(new URL('../npm/package.json', import.meta.url));
const { default: YAML } = await import(pathToFileURL(npm.resolve('yaml')));

// ---- reading: [text | { action }] with trimmed white space, then a tree

const ACTION = new RegExp([
  /^\{\{(-\s)?\s*/, /(?:(\/\*[^]*?\*\/)|((?:"(?:\\.|[^"\\])*"|[^"}]|\}(?!\}))*?))/, /\s*?(\s-)?\}\}/,
].map((part) => part.source).join(''));

function pieces(source, name) {
  const found = [];
  let rest = source;
  let trim = false;
  for (;;) {
    const begin = rest.indexOf('{{');
    let text = begin < 0 ? rest : rest.slice(0, begin);
    if (trim) text = text.trimStart();
    if (begin < 0) {
      found.push(text);
      return found;
    }
    const match = ACTION.exec(rest.slice(begin));
    if (match === null) throw new Error(`${name}: an action without an end: ${rest.slice(begin, begin + 60)}`);
    if (match[1]) text = text.trimEnd();
    found.push(text);
    if (match[2] === undefined) found.push({ action: match[3].trim() });
    trim = match[4] !== undefined;
    rest = rest.slice(begin + match[0].length);
  }
}

/** Nodes up to an `end` or `else`, which it takes too: { nodes, stop }. */
function block(queue, name) {
  const nodes = [];
  while (queue.length > 0) {
    const piece = queue.shift();
    if (typeof piece === 'string') {
      nodes.push({ text: piece });
      continue;
    }
    const [, word, rest] = /^(\S+)\s*([^]*)$/.exec(piece.action);
    if (word === 'end' || word === 'else') return { nodes, stop: word, rest };
    if (!['if', 'with', 'range', 'define'].includes(word)) {
      nodes.push({ print: piece.action });
      continue;
    }
    const node = { what: word, head: rest, ...pick(block(queue, name), 'body') };
    if (node.stop === 'else') node.other = otherwise(node.rest, queue, name);
    nodes.push(node);
  }
  return { nodes, stop: undefined };
}

const pick = ({ nodes, stop, rest }, as) => ({ [as]: nodes, stop, rest });

function otherwise(rest, queue, name) {
  if (rest === '') return block(queue, name).nodes;
  if (!rest.startsWith('if ')) throw new Error(`${name}: else ${rest}`);
  const node = { what: 'if', head: rest.slice(3), ...pick(block(queue, name), 'body') };
  if (node.stop === 'else') node.other = otherwise(node.rest, queue, name);
  return [node];
}

// ---- pipelines

const empty = (value) => value === undefined || value === null || value === false || value === 0 || value === ''
  || (typeof value === 'object' && Object.keys(value).length === 0);
const shown = (value) => (value === undefined || value === null ? '' : String(value));
const indent = (n, text) => text.split('\n').map((line) => ' '.repeat(n) + line).join('\n');

class Failure extends Error {}

const FUNCTIONS = {
  quote: (value) => JSON.stringify(shown(value)),
  default: (other, value) => (empty(value) ? other : value),
  indent,
  nindent: (n, text) => `\n${indent(n, text)}`,
  toYaml: (value) => YAML.stringify(value, { lineWidth: 0 }).trimEnd(),
  sha256sum: (text) => createHash('sha256').update(text).digest('hex'),
  trunc: (n, text) => text.slice(0, n),
  trimSuffix: (end, text) => (text.endsWith(end) ? text.slice(0, -end.length) : text),
  printf: (format, ...values) => format.replace(/%s/g, () => shown(values.shift())),
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: (a, b) => a > b,
  not: (value) => empty(value),
  and: (...values) => values.find(empty) ?? values.at(-1),
  or: (...values) => values.find((value) => !empty(value)) ?? values.at(-1),
  int: (value) => Math.trunc(Number(value)),
  list: (...values) => values,
  dict: (...pairs) => Object.fromEntries(pairs.flatMap((key, i) => (i % 2 ? [] : [[key, pairs[i + 1]]]))),
  omit: (map, ...names) => Object.fromEntries(Object.entries(map).filter(([key]) => !names.includes(key))),
  hasKey: (map, name) => Object.hasOwn(map, name),
  fail: (text) => { throw new Failure(text); },
};

const TOKEN = /\s*(?:("(?:\\.|[^"\\])*")|(\d+)|(\$?\w*(?:\.\w+)+|\$\w*|\.)|(\w+)|([()|]))/y;

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`not understood: ${text}`);
    const [, string, number, path, word, sign] = match;
    found.push(string !== undefined ? { value: JSON.parse(string) } : number !== undefined ? { value: Number(number) }
      : path !== undefined ? { path } : word !== undefined ? { word } : { sign });
  }
  return found;
}

class Chart {
  constructor(root, defines) {
    this.root = root;
    this.defines = defines;
  }

  at(path, dot, names) {
    const [first, ...rest] = path.split('.');
    const start = first === '' ? dot : first === '$' ? this.root : names.get(first);
    if (first.startsWith('$') && first !== '$' && !names.has(first)) throw new Error(`no variable ${first}`);
    return rest.filter((name) => name !== '').reduce((value, name) => value?.[name], start);
  }

  pipeline(queue, dot, names) {
    let value;
    for (let piped = false; ; piped = true) {
      value = this.command(queue, dot, names, piped ? [value] : []);
      if (queue[0]?.sign !== '|') return value;
      queue.shift();
    }
  }

  command(queue, dot, names, last) {
    const [head] = queue;
    const parts = [];
    while (queue.length > 0 && !['|', ')'].includes(queue[0].sign)) parts.push(this.operand(queue, dot, names));
    if (head.word === undefined || ['true', 'false'].includes(head.word)) {
      if (parts.length !== 1 || last.length > 0) throw new Error('a value takes no arguments');
      return parts[0];
    }
    const [name, ...rest] = parts;
    if (name === 'include') return this.include(...rest, ...last);
    if (FUNCTIONS[name] === undefined) throw new Error(`no function ${name}`);
    return FUNCTIONS[name](...rest, ...last);
  }

  operand(queue, dot, names) {
    const token = queue.shift();
    if (token.sign === '(') {
      const value = this.pipeline(queue, dot, names);
      if (queue.shift()?.sign !== ')') throw new Error('a parenthesis is not closed');
      return value;
    }
    if (token.path !== undefined) return this.at(token.path, dot, names);
    if (token.word === 'true' || token.word === 'false') return token.word === 'true';
    return token.word ?? token.value;
  }

  evaluate(text, dot, names) {
    const queue = tokens(text);
    const value = this.pipeline(queue, dot, names);
    if (queue.length > 0) throw new Error(`not understood: ${text}`);
    return value;
  }

  include(name, dot) {
    if (!this.defines.has(name)) throw new Error(`no template ${name}`);
    return this.render(this.defines.get(name), dot, new Map([['$', dot]]));
  }

  render(nodes, dot, outer) {
    const names = new Map(outer);
    return nodes.map((node) => this.node(node, dot, names)).join('');
  }

  node(node, dot, names) {
    if (node.text !== undefined) return node.text;
    if (node.print !== undefined) {
      const set = /^(\$\w+)\s*:=\s*([^]*)$/.exec(node.print);
      if (set === null) return shown(this.evaluate(node.print, dot, names));
      names.set(set[1], this.evaluate(set[2], dot, names));
      return '';
    }
    const bound = /^(\$\w+)\s*:=\s*([^]*)$/.exec(node.head);
    const value = this.evaluate(bound?.[2] ?? node.head, dot, names);
    if (empty(value)) return this.render(node.other ?? [], dot, names);
    if (node.what === 'if') return this.render(node.body, dot, names);
    const inside = (one) => this.render(node.body, one, bound ? new Map([...names, [bound[1], one]]) : names);
    return node.what === 'with' ? inside(value) : value.map(inside).join('');
  }
}

/** `over` in the place of `base`, member by member. */
export const merged = (base, over) => (over !== null && typeof over === 'object' && !Array.isArray(over)
  && base !== null && typeof base === 'object' && !Array.isArray(base)
  ? Object.fromEntries([...new Set([...Object.keys(base), ...Object.keys(over)])].map((key) =>
    [key, Object.hasOwn(over, key) ? merged(base[key], over[key]) : base[key]]))
  : over);

/** What a release of the chart would have, by template: { 'file.yaml': text }. Throws what the chart refuses. */
export function render(folder, { release = 'writ', namespace = 'writ', values = {} } = {}) {
  const meta = YAML.parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8'));
  const root = {
    Chart: { Name: meta.name, Version: meta.version, AppVersion: meta.appVersion },
    Release: { Name: release, Namespace: namespace, Service: 'Helm' },
    Values: merged(YAML.parse(readFileSync(join(folder, 'values.yaml'), 'utf8')), values),
  };
  const defines = new Map();
  const files = new Map();
  for (const name of readdirSync(join(folder, 'templates')).sort()) {
    const { nodes, stop } = block(pieces(readFileSync(join(folder, 'templates', name), 'utf8'), name), name);
    if (stop !== undefined) throw new Error(`${name}: an end without a beginning`);
    for (const node of nodes.filter((n) => n.what === 'define')) defines.set(JSON.parse(node.head), node.body);
    files.set(name, nodes.filter((n) => n.what !== 'define'));
  }
  const chart = new Chart(root, defines);
  return Object.fromEntries([...files].filter(([name]) => !name.startsWith('_')).map(([name, nodes]) => {
    try {
      return [name, chart.render(nodes, root, new Map([['$', root]]))];
    } catch (error) {
      if (!(error instanceof Failure)) error.message = `${name}: ${error.message}`;
      throw error;
    }
  }));
}

/** The objects of such texts, of all templates but the notes. */
export const objects = (texts) => Object.entries(texts).filter(([name]) => name.endsWith('.yaml')).flatMap(([, text]) =>
  YAML.parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  }).filter((one) => one !== null));
