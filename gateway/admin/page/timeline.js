// timeline.js - the life of a call as spans of time: how long it waited for what. A table, with a bar
// for each row; the records have the times.
import { el } from './dom.js';
import { took, when } from './shown.js';

const VERDICTS = new Set(['accept', 'reject', 'revise', 'expire', 'withdraw', 'cancel', 'outdate']);
const ENDS = new Set(['redeem', 'drift', 'outdate', 'expire', 'withdraw', 'cancel']);
const SVG = 'http://www.w3.org/2000/svg';

function claimed(decision) {
  const seconds = decision.extensions?.writ?.claim_seconds;
  return typeof seconds === 'number' ? { what: 'Claim: no other call gets its key', from: decision.issued_at, to: new Date(Date.parse(decision.issued_at) + 1000 * seconds).toISOString(), isLater: true } : null;
}

function waited(review) {
  const open = review.find((record) => record.event === 'open');
  const verdict = review.find((record) => VERDICTS.has(record.event));
  const end = review.find((record) => ENDS.has(record.event));
  return [
    open && { what: 'Review: waits for the verdict', from: open.at, to: verdict?.at },
    verdict?.event === 'accept' && { what: 'Approved: waits for the caller', from: verdict.at, to: end?.at },
  ];
}

/** The spans of a call's life, in order: { what, from, to }; `to` is missing while it lasts, both are the same for a
 * point in time. */
export function spans({ rounds, seal }) {
  return [
    ...rounds.flatMap(({ decision, review, outcome }) => [
      decision.issued_at !== undefined && { what: 'Decision, in the ledger', from: decision.issued_at, to: decision.issued_at },
      claimed(decision),
      ...(review === undefined ? [] : waited(review)),
      decision.decision === 'allow' && decision.issued_at !== undefined && outcome?.outcome !== 'blocked' && { what: 'Sent: waits for the tool server', from: decision.issued_at, to: outcome?.completed_at },
      outcome?.outcome === 'blocked' && { what: 'Refused: nothing was sent', from: outcome.completed_at, to: outcome.completed_at },
      outcome !== undefined && outcome.outcome !== 'blocked' && { what: 'Outcome, in the ledger', from: outcome.completed_at, to: outcome.completed_at },
    ]),
    seal?.sealed_at !== undefined && { what: 'Seal of its run', from: seal.sealed_at, to: seal.sealed_at, isLater: true },
  ].filter(Boolean);
}

function bar({ from, to }, first, last) {
  const width = Math.max(last - first, 1);
  const begin = Math.min(100, 100 * (Date.parse(from) - first) / width);
  const end = Math.min(100, 100 * ((to === undefined ? last : Date.parse(to)) - first) / width);
  const svg = document.createElementNS(SVG, 'svg');
  const rect = document.createElementNS(SVG, 'rect');
  for (const [key, value] of [['viewBox', '0 0 100 8'], ['preserveAspectRatio', 'none'], ['aria-hidden', 'true'], ['focusable', 'false']]) svg.setAttribute(key, value);
  const long = Math.max(end - begin, 0.8);
  for (const [key, value] of [['x', Math.min(begin, 100 - long)], ['y', 0], ['width', long], ['height', 8]]) rect.setAttribute(key, value);
  svg.append(rect);
  return svg;
}

/** The table; null for a call whose records have no time. */
export function timeline(life) {
  const all = spans(life);
  if (all.length === 0) return null;
  // a claim lasts for a day, a seal comes when the run ends: they would leave no room for the rest
  const near = all.filter((span) => !span.isLater);
  const first = Math.min(...near.map(({ from }) => Date.parse(from)));
  const isOpen = near.some(({ to }) => to === undefined);
  const last = Math.max(...near.map(({ from, to }) => Date.parse(to ?? from)), isOpen ? Date.now() : 0);
  return el('table', { class: 'timeline', role: 'table' }, el('caption', { class: 'unseen' }, 'How long each part of the call took'),
    el('thead', { class: 'unseen', role: 'rowgroup' }, el('tr', { role: 'row' }, ['Part', 'Begin', 'Took', 'Place in time'].map((label) => el('th', { role: 'columnheader', scope: 'col' }, label)))),
    el('tbody', { role: 'rowgroup' }, all.map((span) => el('tr', { role: 'row' },
      el('th', { role: 'rowheader', scope: 'row' }, span.what),
      el('td', { role: 'cell' }, when(span.from)),
      el('td', { role: 'cell' }, span.isLater && span.from !== span.to ? ['until ', when(span.to)] : span.to === undefined ? 'not over' : span.from === span.to ? '' : took(Date.parse(span.to) - Date.parse(span.from))),
      el('td', { role: 'cell', class: 'bar' }, bar(span, first, last))))));
}
