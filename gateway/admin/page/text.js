// text.js - untrusted texts, shown so that nothing in them hides: a character that is invisible, turns the
// direction of writing, or looks like another letter is marked in its place.
import { HIDDEN } from './hidden.js';

const NAMES = new Map([
  [0x00, 'NUL'], [0x07, 'bell'], [0x08, 'backspace'], [0x09, 'tab'], [0x0a, 'line feed'], [0x0b, 'vertical tab'], [0x0c, 'form feed'],
  [0x0d, 'carriage return'], [0x1b, 'escape'], [0x7f, 'delete'], [0x9b, 'control sequence'], [0xa0, 'no-break space'], [0xad, 'soft hyphen'],
  [0x61c, 'Arabic letter mark'], [0x200b, 'zero width space'], [0x200c, 'zero width non-joiner'], [0x200d, 'zero width joiner'],
  [0x200e, 'left-to-right mark'], [0x200f, 'right-to-left mark'], [0x2028, 'line separator'], [0x2029, 'paragraph separator'],
  [0x202a, 'left-to-right embedding'], [0x202b, 'right-to-left embedding'], [0x202c, 'end of direction'], [0x202d, 'left-to-right override'],
  [0x202e, 'right-to-left override'], [0x2060, 'word joiner'], [0x2066, 'left-to-right isolate'], [0x2067, 'right-to-left isolate'],
  [0x2068, 'first strong isolate'], [0x2069, 'end of isolate'], [0x3000, 'ideographic space'], [0xfeff, 'byte order mark'],
]);
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const ALIKE = /[\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Lisu}]/u;
const ASCII = /^[\x20-\x7e]+$/;

const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** How a character hides, or undefined. */
export function hides(character) {
  const point = character.codePointAt(0);
  let low = 0, high = HIDDEN.length;
  while (low < high) {
    const middle = (low + high) >> 1, [first, last, kind] = HIDDEN[middle];
    if (point > last) low = middle + 1;
    else if (point < first) high = middle;
    else return kind;
  }
  return undefined;
}

function describe(character) {
  const name = NAMES.get(character.codePointAt(0)) ?? (hides(character) === 'tag' ? 'hidden tag' : undefined);
  return name === undefined ? code(character) : `${code(character)} ${name}`;
}

// the places of words that mix letters which look alike
function mixed(text) {
  const at = new Set();
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!LATIN.test(word) || !ALIKE.test(word)) continue;
    for (let i = index; i < index + word.length; i++) if (ALIKE.test(text[i])) at.add(i);
  }
  return at;
}

/**
 * A text in pieces: { text } unchanged, { mark, about } for an invisible character
 * ({ line: true } when it ends a line), { text, about } for one that looks like another.
 *
 * @param name  the text is a name: every letter beyond ASCII is marked
 */
export function pieces(text, { name = false } = {}) {
  const result = [];
  const alike = mixed(text);
  let plain = '';
  const flush = () => {
    if (plain !== '') result.push({ text: plain });
    plain = '';
  };
  let at = 0;
  for (const character of text) {
    const folded = character.normalize('NFKC');
    if (hides(character) !== undefined) {
      flush();
      result.push({ mark: character === '\n' ? '↵' : character === '\t' ? '⇥' : code(character), about: describe(character), line: character === '\n' });
    } else if (alike.has(at) || (folded !== character && ASCII.test(folded)) || (name && !ASCII.test(character))) {
      flush();
      result.push({ text: character, about: `${code(character)}, which is not in ASCII` });
    } else {
      plain += character;
    }
    at += character.length;
  }
  flush();
  return result;
}

/** A warning about the characters of a text, as a sentence; empty without one. */
export function warning(text) {
  const kinds = new Set();
  for (const piece of pieces(text)) {
    if (piece.mark !== undefined && !piece.line && piece.mark !== '⇥') kinds.add('characters that cannot be seen');
    else if (piece.text !== undefined && piece.about !== undefined) kinds.add('letters that look like others');
  }
  return kinds.size === 0 ? '' : `Has ${[...kinds].join(' and ')}; they are marked.`;
}
