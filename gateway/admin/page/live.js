// live.js - reviews as they change: the gateway's stream of events (docs/reviews.md, "Watching"),
// while the page is visible. A browser has few connections to a host, so a hidden page holds none,
// and requests the list from time to time, for the count in its title.
import { reviews } from './api.js';
import { follow } from './follow.js';

const UNSEEN_MS = 15_000; // between two requests of a hidden page

/** Fires 'reviews' with the live ones when any has changed, and 'review' with each one that has. */
export const live = new EventTarget();

/** The live reviews, the oldest first. */
export let current = [];
/** Whether these are all: a long list arrives in pieces, of which only the end has an id. */
export let whole = true;

const known = new Map();
let last = ''; // id of the last event
let reading = null; // the stream
let first = null; // called when the first list is there
let unseen = null; // timer

const isLive = (review) => review.state === 'open' || review.state === 'approved';

function tell() {
  current = [...known.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  live.dispatchEvent(new CustomEvent('reviews', { detail: current }));
}

function take({ event, data, id }) {
  if (event === 'reset') {
    known.clear();
    whole = false;
  }
  if (id !== undefined && id !== '0') whole = true;
  if (event !== 'review') return;
  const review = JSON.parse(data);
  if (isLive(review)) known.set(review.id, review);
  else known.delete(review.id);
  live.dispatchEvent(new CustomEvent('review', { detail: review }));
}

function go() {
  let fresh = false;
  reading = follow('/v1/reviews/events', {
    last,
    each(event) {
      fresh = true;
      take(event);
    },
    after() {
      if (fresh) tell();
      fresh = false;
      first?.();
    },
  });
}

async function glance() {
  const list = await reviews().catch(() => null);
  if (list === null || unseen === null) return;
  known.clear();
  for (const review of list) known.set(review.id, review);
  whole = true;
  tell();
}

function pause() {
  clearInterval(unseen);
  unseen = null;
  if (reading !== null) last = reading.last;
  reading?.stop();
  reading = null;
}

/** Starts, and waits until the first list arrives or fails. */
export function start() {
  const there = new Promise((resolve) => { first = resolve; });
  pause();
  go();
  return there;
}

export function stop() {
  pause();
  known.clear();
  current = [];
  whole = true;
  last = '';
  first = null;
}

document.addEventListener('visibilitychange', () => {
  if (first === null) return;
  pause();
  if (document.hidden) unseen = setInterval(glance, UNSEEN_MS);
  else go();
});
