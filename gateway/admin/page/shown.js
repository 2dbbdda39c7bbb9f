// shown.js - how texts, times and words of the records look.
import { el } from './dom.js';
import { pieces } from './text.js';

/** An untrusted text, isolated in its direction, with marks. */
export function text(value, options = {}) {
  return el(options.name ? 'bdi' : 'span', { class: `told${options.class ? ` ${options.class}` : ''}` }, pieces(String(value), options).map((piece) => {
    if (piece.mark !== undefined) {
      const mark = el('span', { class: 'mark', title: piece.about }, el('span', { 'aria-hidden': 'true' }, piece.mark), el('span', { class: 'unseen' }, ` (${piece.about}) `));
      return piece.line ? [mark, '\n'] : mark;
    }
    return piece.about === undefined ? piece.text : el('span', { class: 'odd', title: piece.about }, piece.text);
  }));
}

/** A name: of a tool, an agent, a run. */
export const name = (value, options = {}) => text(value, { ...options, name: true });

/** A digest or an id: all of it is there, the beginning is seen. */
export function digest(value) {
  return el('code', { class: 'digest', title: value }, text(value, { name: true }));
}

/** A point in time. */
export function when(iso, options = {}) {
  const date = new Date(iso);
  const full = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return el('time', { datetime: iso, title: iso }, options.short ? date.toLocaleString(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' }) : full);
}

/** "12 ms", "1.3 s", then as span() */
export const took = (ms) => (ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms));

/** "3 min" */
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, '0')} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

/** How long ago, or how long still; goes on by itself while it is on the page. */
export function clock(iso, before, after) {
  const element = el('time', { datetime: iso, title: iso, class: 'clock' });
  const at = Date.parse(iso);
  const turn = () => {
    const left = at - Date.now();
    element.textContent = left > 0 ? `${before} ${span(left)}` : `${after ?? before} ${span(-left)}${after === undefined ? '' : ' ago'}`;
  };
  turn();
  const timer = setInterval(() => (element.isConnected ? turn() : clearInterval(timer)), 1000);
  return element;
}

/** The verdicts as a person says them; what the ledger can be searched for. */
export const DECISIONS = {
  allow: 'Allowed', deny: 'Denied', revise: 'Revise', require_approval: 'Needs approval',
};
/** Decisions about no call: what a record says about a run, which neither allows nor refuses anything. */
export const OF_RUNS = { task_stated: 'Task stated', content_read: 'Content read' };
/** What the ledger can be searched for, too. */
export const OUTCOMES = ['executed', 'blocked', 'error', 'timeout'];
const WORDS = {
  ...DECISIONS, ...OF_RUNS,
  open: 'Open', approved: 'Approved', redeemed: 'Redeemed', rejected: 'Rejected', revised: 'Changes asked for', expired: 'Expired', lapsed: 'Lapsed',
  withdrawn: 'Withdrawn', cancelled: 'Cancelled', outdated: 'Outdated', drifted: 'Target changed', failed: 'Not counted',
  executed: 'Executed', blocked: 'Blocked', error: 'Error', timeout: 'Timeout', approve: 'Approve', reject: 'Reject', modify: 'Changes', abstain: 'Abstain',
};
/** States of an upstream, of the ledger and of a definition. */
const PARTS = {
  up: 'Up', down: 'Down', sick: 'Sick', ready: 'Ready', refusing: 'Refusing', poisoned: 'Poisoned',
  new: 'New', changed: 'Changed', gone: 'No longer seen', accepted: 'Accepted',
};
const GOOD = new Set(['accepted', 'up', 'ready', 'approved', 'redeemed', 'allow', 'executed', 'approve']);
const BAD = new Set(['changed', 'down', 'poisoned', 'refusing', 'rejected', 'failed', 'deny', 'reject', 'error', 'timeout', 'blocked']);
const WAITING = new Set(['sick', 'new', 'open', 'revised', 'revise', 'require_approval', 'modify']);

/** A word of the records as a person says it. */
export const word = (value) => WORDS[value] ?? PARTS[value] ?? String(value).replaceAll('_', ' ');

/** The same in its colour; the word says it all, the colour only helps. */
export function pill(value, prefix = '') {
  const kind = GOOD.has(value) ? 'good' : BAD.has(value) ? 'bad' : WAITING.has(value) ? 'wait' : 'plain';
  return el('span', { class: `pill ${kind}` }, prefix, word(value));
}

/** Whether a decision is about no call. */
export const isOfRun = (reason) => Object.hasOwn(OF_RUNS, reason ?? '');

/** The verdict of a decision. */
export const verdict = (decision, reason) => pill(isOfRun(reason) ? reason : decision);
