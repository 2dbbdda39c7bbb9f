// difference.js - the differences between two JSON values (json.js), place by place, for reading:
// the old value, the new value. Each has a sign and a word; colours only help.
import { el } from './dom.js';
import { name } from './shown.js';
import { count, fold, tree } from './tree.js';

const CHANGES_SHOWN = 40; // before the rest is folded
const LINE_SHOWN = 120; // characters of a text in one line that is shown whole
const CONTEXT = 40; // characters around what changed in a longer one

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// the number of equal items at the beginning of two lists, and of the rest at their end
function common(before, after, equal) {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && equal(before[head], after[head])) head++;
  let tail = 0;
  while (tail < least - head && equal(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++;
  return { head, tail };
}

// the part of two long texts that is not the same: whole lines, or what is around in the only line
function texts(before, after) {
  const lines = before.includes('\n') || after.includes('\n');
  if (!lines && before.length <= LINE_SHOWN && after.length <= LINE_SHOWN) return { before, after };
  const units = (value) => (lines ? value.match(/[^\n]*\n|[^\n]+$/g) ?? [] : [...value]);
  const [was, is] = [units(before), units(after)];
  const { head, tail } = common(was, is, (a, b) => a === b);
  const [skip, drop] = lines ? [head, tail] : [Math.max(0, head - CONTEXT), Math.max(0, tail - CONTEXT)];
  const part = (all) => (all.length > skip + drop ? all.slice(skip, all.length - drop).join('') : undefined);
  const equal = (n) => (n > 0 ? `${lines ? count(n, 'line', 'lines') : count(n, 'character', 'characters')} as before` : undefined);
  return { before: part(was), after: part(is), head: equal(skip), tail: equal(drop) };
}

/**
 * The changes: { path, before, after }, of which one is undefined where nothing was, or is. Of two
 * texts they are what is not the same of them, with `head` and `tail` that tell what was left out.
 */
export function changes(before, after, path = []) {
  if (same(before, after)) return [];
  if (before.kind === 'object' && after.kind === 'object') {
    const [was, is] = [new Map(before.members), new Map(after.members)];
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => (was.has(key) && is.has(key)
      ? changes(was.get(key), is.get(key), [...path, key]) : [{ path: [...path, key], before: was.get(key), after: is.get(key) }]));
  }
  if (before.kind === 'array' && after.kind === 'array') {
    const { head, tail } = common(before.items, after.items, same);
    const [was, is] = [before, after].map(({ items }) => items.slice(head, items.length - tail));
    const at = (i) => [...path, String(head + i)];
    if (was.length === is.length) return was.flatMap((value, i) => changes(value, is[i], at(i)));
    return [...was.map((value, i) => ({ path: at(i), before: value })), ...is.map((value, i) => ({ path: at(i), after: value }))];
  }
  if (before.kind === 'string' && after.kind === 'string') {
    const part = texts(before.text, after.text);
    const value = (text) => (text === undefined ? undefined : { kind: 'string', text });
    return [{ path, ...part, before: value(part.before), after: value(part.after) }];
  }
  return [{ path, before, after }];
}

/** A value with a sign; a larger one can be scrolled with the keyboard. */
export function side(kind, sign, value) {
  if (value === undefined) return null;
  const shown = tree(value);
  if (value.kind === 'object' || value.kind === 'array') shown.setAttribute('tabindex', '0');
  return el('div', { class: `side ${kind}` }, el('span', { class: 'sign' }, sign), shown);
}
const equal = (told) => told !== undefined && el('p', { class: 'soft small' }, `… ${told} …`);

function change({ path, before, after, head, tail }) {
  return el('li', { class: 'change' },
    el('p', { class: 'place' }, path.length === 0 ? 'The whole value' : path.map((step, i) => [i > 0 && ' › ', step === '' ? el('span', { class: 'empty' }, 'empty name') : name(step)])),
    equal(head), side('removed', '− Removed', before), side('added', '+ Added', after), equal(tail));
}

function some(all) {
  const rest = all.slice(CHANGES_SHOWN);
  return [el('ol', { class: 'changes' }, all.slice(0, CHANGES_SHOWN).map(change)),
    rest.length > 0 && fold(`Show more (${count(rest.length, 'change', 'changes')} left)`, () => some(rest))];
}

/** The layout of the result of `changes`. */
export const difference = (found) => el('div', {}, some(found));
