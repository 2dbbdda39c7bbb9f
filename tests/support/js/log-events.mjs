// log-events.mjs - the events of the log, as core/base/log_event.tbl.h has them, and whether a line is one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TABLE = readFileSync(join(process.env.WRIT_SOURCE_DIR ?? '.', 'core/base/log_event.tbl.h'), 'utf8');
const ROW = /^ {4}X\(([A-Z_]+), ([a-z_]+), ([A-Z_ |]+), ([A-Z]+),((?:"[^"]*"|[\s\\,])*)\)/gm;
const OF_EVERY_LINE = new Set(['time', 'level', 'event', 'cut', 'lines_lost']);

/** The texts between the commas, each of one or more literals. */
const texts = (source) => source.split(/"\s*,/)
  .map((text) => [...`${text}"`.matchAll(/"([^"]+)"/g)].map((m) => m[1]).join(''));

/** { name, programs, level, members, meaning } of each row, in its order. */
export const LOG_EVENTS = [...TABLE.matchAll(ROW)].map(([, , name, programs, level, rest]) => {
  const [members, meaning] = texts(rest);
  return {
    name,
    programs: programs.match(/SERVE|GUARD|WRAP|WATCH/g).map((p) => p.toLowerCase()),
    level: level.toLowerCase(),
    members: members.split(', '),
    meaning,
  };
});

const rowOf = (program, event) => LOG_EVENTS.find((row) => row.name === event && row.programs.includes(program));

/** Throws unless the line of `serve`, `guard`, `wrap` or `watch` has a row, its level, and members of it in its order. */
export function checkLine(program, line) {
  const row = rowOf(program, line.event);
  const members = Object.keys(line).filter((key) => !OF_EVERY_LINE.has(key));
  const places = members.map((key) => row?.members.indexOf(key) ?? -1);
  if (row?.level !== line.level || places.some((place, i) => place < 0 || place < places[i - 1])) {
    throw new Error(`not as log_event.tbl.h has it: ${JSON.stringify(line)}`);
  }
}

/** The rows of a program as a page has them. */
export const pageOf = (program) => LOG_EVENTS.filter((row) => row.programs.includes(program))
  .map((row) => {
    const members = row.members.map((m) => `\`${m}\``).join(', ');
    return `| \`${row.name}\` | ${row.level} | ${members} | ${row.meaning} |`;
  });
