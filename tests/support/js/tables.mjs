// tables.mjs - the rows of a table of the sources (*.tbl.h), for tests that compare a list with it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? '.';

/** The words of the rows X(NAME, word, ...) of that macro, as they are written: name or text. */
export function rows(file, macro) {
  const head = new RegExp(`#define ${macro}(?:_WITH\\(X, between\\)|\\(X\\))`);
  const text = readFileSync(join(SOURCE, file), 'utf8').split(head)[1];
  const table = /^(?:[^\n]*\\\n)*[^\n]*/.exec(text)[0];
  return [...table.matchAll(/X\([A-Z0-9_]+, +"?([a-z_:]+)/g)].map((m) => m[1]);
}
