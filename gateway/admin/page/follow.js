// follow.js - a stream of server-sent events for as long as it is wanted: it connects again after an
// end, and after a silence that is longer than the gateway's heartbeat, so that a page that says
// "Live" is live. It is read with fetch, because an EventSource cannot show the login's key.
import { login, stream } from './api.js';

const AGAIN_MS = 2000; // after a stream that ended or failed
const SILENCE_MS = 40_000; // the gateway sends a heartbeat every 15 s

const streams = new Map(); // of those that are wanted: whether it is connected
let linked = null;

/** Fires 'link' when the gateway was lost, by any stream, or found again by all. */
export const line = new EventTarget();

function tell() {
  const is = ![...streams.values()].includes(false);
  if (streams.size === 0 || is === linked) return;
  linked = is;
  line.dispatchEvent(new CustomEvent('link', { detail: is }));
}

/** One event of its lines. */
function event(block) {
  const found = {};
  for (const text of block.split('\n')) {
    const at = text.indexOf(': ');
    if (at > 0) found[text.slice(0, at)] = text.slice(at + 2);
  }
  return found;
}

/**
 * Follows a stream until stop() is called.
 *
 * @param last  the id of the event to go on after, '' for none
 * @param each  called with each event: { event, data, id }
 * @param after called when all events that came together were given, and after a failure
 * @param link  called with true when connected, false when lost
 */
export function follow(path, { last = '', each, after = () => {}, link = () => {} }) {
  const own = {};
  let controller = null;
  let silence = null;

  const state = (is) => {
    if (streams.get(own) !== is) link(is);
    streams.set(own, is);
    tell();
  };
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => controller?.abort(), SILENCE_MS);
  };
  const read = async () => {
    const body = await stream(path, last, controller.signal);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    state(true);
    for (;;) {
      heard();
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + value).split('\n\n');
      text = blocks.pop();
      for (const found of blocks.map(event)) {
        if (found.event !== undefined) each(found);
        if (found.id !== undefined) last = found.id;
      }
      if (blocks.length > 0) after();
    }
  };
  const go = async () => {
    const mine = { stopped: false };
    own.run = mine;
    while (!mine.stopped) {
      const began = Date.now();
      controller = new AbortController();
      try {
        await read();
        if (Date.now() - began > AGAIN_MS) continue; // it was served: connect again at once
      } catch (error) {
        if (mine.stopped) return;
        if (error.status === 401) {
          login.dispatchEvent(new Event('out'));
          return;
        }
        state(false);
        after();
      } finally {
        clearTimeout(silence);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };
  go();
  return {
    stop() {
      own.run.stopped = true;
      controller?.abort();
      clearTimeout(silence);
      streams.delete(own);
      if (streams.size === 0) linked = null;
      else tell();
    },
    get last() {
      return last;
    },
  };
}
