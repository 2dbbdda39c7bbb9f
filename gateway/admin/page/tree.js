// tree.js - a JSON value (json.js) laid out for reading. Nothing is left out: what is long, wide or
// deep is folded, says how much it is, and unfolds at a press.
import { el, fill } from './dom.js';
import { text, name } from './shown.js';
import { warning } from './text.js';

const STRING_SHOWN = 1200; // characters of a string
const ITEMS_SHOWN = 60; // members or elements
const DEPTH_SHOWN = 10; // levels
const NODES_SHOWN = 400; // values in all, before objects and lists are folded
const STEP = 20_000; // characters that one press adds

/** "3 members" */
export const count = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

/** A button that what `build` makes takes the place of. */
export function fold(label, build) {
  const button = el('button', { type: 'button', class: 'fold', 'data-folded': true }, label);
  button.addEventListener('click', () => {
    const parts = [build()].flat().filter(Boolean);
    const [first] = parts;
    button.replaceWith(...parts);
    first?.setAttribute?.('tabindex', '-1');
    first?.focus?.();
  });
  return button;
}

function more(whole, from) {
  const characters = [...whole.slice(from, from + 2 * STEP)].slice(0, STEP).join('');
  const rest = whole.length - from - characters.length;
  return [text(characters), rest > 0 && fold(`Show more (${count(rest, 'character', 'characters')} left)`, () => more(whole, from + characters.length))];
}

function string(value) {
  const told = warning(value);
  const note = told !== '' && el('span', { class: 'warning' }, told);
  if (value === '') return el('span', { class: 'scalar empty' }, 'empty text');
  const block = value.includes('\n') || value.length > 120;
  let shown = value;
  let rest = null;
  if (value.length > STRING_SHOWN) {
    shown = [...value.slice(0, STRING_SHOWN)].join('').replace(/[\ud800-\udbff]$/, '');
    rest = fold(`Show more (${count(value.length - shown.length, 'character', 'characters')} left)`, () => more(value, shown.length));
  }
  return el(block ? 'div' : 'span', { class: block ? 'scalar block' : 'scalar' }, text(shown, { class: 'string' }), rest, note);
}

function list(entries, row, depth, tag) {
  const rows = (from) => entries.slice(from, from + ITEMS_SHOWN).map(([label, value]) => row(label, value, depth));
  const element = el(tag, { class: 'tree' });
  const grow = (from) => {
    element.append(...rows(from));
    const left = entries.length - from - ITEMS_SHOWN;
    if (left <= 0) return;
    const next = el(tag === 'dl' ? 'div' : 'li', { class: 'rest' });
    const button = fold(`Show more (${count(left, 'entry', 'entries')} left)`, () => {
      next.remove();
      grow(from + ITEMS_SHOWN);
      return [];
    });
    fill(next, tag === 'dl' ? el('dd', {}, button) : button);
    if (tag === 'dl') next.prepend(el('dt', { class: 'unseen' }, 'more'));
    element.append(next);
  };
  grow(0);
  return element;
}

function member(label, value, depth) {
  const told = warning(label);
  return el('div', { class: value.kind === 'object' || value.kind === 'array' ? 'member nested' : 'member' },
    el('dt', {}, label === '' ? el('span', { class: 'empty' }, 'empty name') : name(label), told !== '' && el('span', { class: 'warning' }, told)),
    el('dd', {}, render(value, depth)));
}

function element(label, value, depth) {
  return el('li', { class: 'member', value: label }, render(value, depth));
}

let drawn = 0; // of the tree, or of the part of it, that is being laid out

function render(value, depth) {
  switch (value.kind) {
    case 'string': return string(value.text);
    case 'number': return el('span', { class: 'scalar number' }, value.text);
    case 'word': return el('span', { class: 'scalar word' }, value.text);
    default: break;
  }
  const isObject = value.kind === 'object';
  const entries = isObject ? value.members : value.items.map((item, i) => [i, item]);
  const size = isObject ? count(entries.length, 'member', 'members') : count(entries.length, 'element', 'elements');
  if (entries.length === 0) return el('span', { class: 'scalar empty' }, isObject ? 'empty object' : 'empty list');
  drawn += entries.length;
  const build = () => list(entries, isObject ? member : element, depth + 1, isObject ? 'dl' : 'ol');
  const open = depth < DEPTH_SHOWN && (drawn <= NODES_SHOWN || depth === 0);
  return open ? build() : fold(`Show ${size}`, () => {
    drawn = entries.length;
    return build();
  });
}

/** The layout of a value. */
export function tree(value) {
  drawn = 0;
  return el('div', { class: 'value' }, render(value, 0));
}

/** How many parts of what is under `element` are folded. */
export const folded = (element) => element.querySelectorAll('[data-folded]').length;
