// details.js - what never changes about a review: its tool, its arguments in short, the condition that
// fired, and whether it may be voted on together with others. The list of reviews does not have it;
// it is read once for each, a few at a time, those on the screen first.
import { review as read } from './api.js';
import { el } from './dom.js';
import { name, text } from './shown.js';

const AT_ONCE = 4; // requests; a browser has few connections
const KEPT = 5000; // more than a gateway has open reviews
const SEARCHED = 2000; // characters of the arguments that the search looks at

const known = new Map(); // by id
const reading = new Set();
let wanted = []; // ids, the next one first
let tell = () => {};

function plain(value) {
  switch (value.kind) {
    case 'object': return `{${value.members.map(([name, own]) => `${name}: ${plain(own)}`).join(', ')}}`;
    case 'array': return `[${value.items.map(plain).join(', ')}]`;
    default: return value.text;
  }
}

function summary(review) {
  const { decision, arguments: args, target_state: state, conditions } = review;
  const tool = [decision.extensions?.writ?.upstream, decision.tool].filter((part) => part !== undefined);
  return {
    tool, args: review.may.includes('bulk') || args?.kind !== 'object' ? args : { ...args, members: args.members.slice(0, 4), left: args.members.length - 4 },
    state: review.may.includes('bulk') ? state : undefined,
    target: decision.target,
    fired: conditions ?? [],
    bulk: review.may.includes('bulk'),
    searched: `${tool.join('/')} ${review.agent_id} ${review.tenant ?? ''} ${review.review} ${decision.target ?? ''} ${args === undefined ? '' : plain(args).slice(0, SEARCHED)}`.toLowerCase(),
  };
}

async function next() {
  const id = wanted.find((own) => !known.has(own) && !reading.has(own));
  if (id === undefined || reading.size >= AT_ONCE) return;
  reading.add(id);
  next();
  try {
    const review = await read(id);
    if (known.size >= KEPT) known.clear();
    known.set(id, summary(review));
  } catch {
    known.set(id, null); // it ended meanwhile, or the gateway is away: the list will say
  } finally {
    reading.delete(id);
  }
  tell(id);
  next();
}

/** The details of a review; undefined while they are not read, null when they cannot be. */
export const detailsOf = (id) => known.get(id);

/** Reads the details of these, in this order; `each` is called after each one. */
export function learn(ids, each) {
  const open = new Set(ids);
  for (const id of known.keys()) if (known.get(id) === null || !open.has(id)) known.delete(id);
  wanted = ids;
  tell = each;
  next();
}

/** "pay/transfer", marked. */
export const toolOf = (details) => (details === undefined || details === null ? 'A call' : details.tool.map((part, i) => [i > 0 && '/', name(part)]));

/** The conditions of the policy because of which a call needs an approval. */
export const fired = (conditions) => (conditions.length === 0 ? null : el('p', { class: 'fired' }, 'Because ', conditions.map((c, i) => [i > 0 && '; ', text(c.condition), ': ', text(c.wants), c.found !== 'holds' && ` (${c.found})`])));
