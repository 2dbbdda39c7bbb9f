// json.js - JSON exactly as it was written: digits of numbers, order of members, names that come
// twice. People must see exactly what they approve; JSON.parse rounds and reorders.

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) throw new SyntaxError(`not JSON at ${this.at}`);
    this.at += found[0].length;
    return found[0];
  }

  next(character) {
    this.take(SPACE);
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  need(character) {
    if (!this.next(character)) throw new SyntaxError(`no ${character} at ${this.at}`);
  }

  value() {
    this.take(SPACE);
    switch (this.text[this.at]) {
      case '{': return this.object();
      case '[': return this.array();
      case '"': return { kind: 'string', text: JSON.parse(this.take(STRING)) };
      case 't': case 'f': case 'n': return { kind: 'word', text: this.take(WORD) };
      default: return { kind: 'number', text: this.take(NUMBER) };
    }
  }

  object() {
    const members = [];
    this.need('{');
    if (this.next('}')) return { kind: 'object', members };
    do {
      this.take(SPACE);
      const name = JSON.parse(this.take(STRING));
      this.need(':');
      members.push([name, this.value()]);
    } while (this.next(','));
    this.need('}');
    return { kind: 'object', members };
  }

  array() {
    const items = [];
    this.need('[');
    if (this.next(']')) return { kind: 'array', items };
    do items.push(this.value()); while (this.next(','));
    this.need(']');
    return { kind: 'array', items };
  }
}

/** The value of a text: { kind: object | array | string | number | word, members | items | text }. */
export function exact(text) {
  const reader = new Reader(text);
  const value = reader.value();
  reader.take(SPACE);
  if (reader.at !== text.length) throw new SyntaxError(`more than one value at ${reader.at}`);
  return value;
}

/** The first member of that name, or undefined. */
export function member(value, name) {
  return value?.kind === 'object' ? value.members.find(([own]) => own === name)?.[1] : undefined;
}
