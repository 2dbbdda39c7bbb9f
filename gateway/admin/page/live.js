// live.js - reviews as they change: the gateway's stream of events (docs/reviews.md, "Watching"),
// while the page is visible. It is read with fetch, because an EventSource cannot show the login's key.
// A browser has few connections to a host, so a hidden page holds none, and requests the
// list from time to time, for the count in its title.
import { login, reviews, stream } from './api.js';

const AGAIN_MS = 2000; // after a stream that ended or failed
const UNSEEN_MS = 15_000; // between two requests of a hidden page

/** Fires 'reviews' with the live ones when any has changed, 'review' with each one that has, and
 * 'link' when the gateway was lost or found again. */
export const live = new EventTarget();

/** The live reviews, the oldest first. */
export let current = [];

const known = new Map();
let last = ''; // id of the last event
let reading = null; // AbortController of the stream
let linked = null;
let first = null; // called when the first list is there
let unseen = null; // timer

const isLive = (review) => review.state === 'open' || review.state === 'approved';

function link(is) {
  if (linked === is) return;
  linked = is;
  live.dispatchEvent(new CustomEvent('link', { detail: is }));
}

function tell() {
  current = [...known.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  live.dispatchEvent(new CustomEvent('reviews', { detail: current }));
}

function take(event) {
  if (event.event === 'reset') known.clear();
  if (event.event === 'review') {
    const review = JSON.parse(event.data);
    if (isLive(review)) known.set(review.id, review);
    else known.delete(review.id);
    live.dispatchEvent(new CustomEvent('review', { detail: review }));
  }
  if (event.id !== undefined) last = event.id;
}

/** Handles the complete events of a text; returns the rest. */
function events(text) {
  const blocks = text.split('\n\n');
  const rest = blocks.pop();
  for (const block of blocks) {
    const event = {};
    for (const line of block.split('\n')) {
      const at = line.indexOf(': ');
      if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
    }
    take(event);
  }
  if (blocks.length > 0) tell();
  return rest;
}

async function read(controller) {
  const body = await stream('/v1/reviews/events', last, controller.signal);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  link(true);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text = events(text + value);
    first?.();
  }
}

async function go() {
  const controller = new AbortController();
  reading = controller;
  while (reading === controller) {
    try {
      await read(controller);
    } catch (error) {
      if (reading !== controller) return;
      if (error.status === 401) {
        login.dispatchEvent(new Event('out'));
        return;
      }
      link(false);
      first?.();
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function glance() {
  const list = await reviews().catch(() => null);
  if (list === null || unseen === null) return;
  known.clear();
  for (const review of list) known.set(review.id, review);
  tell();
}

function pause() {
  clearInterval(unseen);
  unseen = null;
  reading?.abort();
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
  last = '';
  linked = null;
  first = null;
}

document.addEventListener('visibilitychange', () => {
  if (first === null) return;
  pause();
  if (document.hidden) unseen = setInterval(glance, UNSEEN_MS);
  else go();
});
