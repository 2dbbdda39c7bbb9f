// evidence.js - receipts and bundles: to download, and to verify in the browser. The verifier is the
// one for Node.js (verify.js: tests/conformance/verify.mjs), which shares no code with the gateway.
import { evidence as load } from './api.js';
import { el, fill } from './dom.js';
import { name, pill, text, verdict, when } from './shown.js';

const BREATH = 200; // lines of a bundle between two looks at what the person does

/** The trusted keys of a text, one a line; a line that begins with # is none. */
const keyLines = (value) => value.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));

/** The keys that a file names itself: they show that it is consistent, not whose it is. */
function ownKeys(value) {
  try {
    const first = JSON.parse(value.split('\n')[0].startsWith('{"format":"writ-bundle/1"') ? value.split('\n')[0] : value);
    return Array.isArray(first.keys) ? first.keys : [];
  } catch {
    return [];
  }
}

async function checkBundle({ BundleCheck, linesOf }, bytes, trust) {
  const check = new BundleCheck(trust);
  let count = 0;
  for (const line of linesOf([bytes])) {
    if (line === undefined) throw Object.assign(new Error('evidence_malformed'), { isRefusal: true });
    check.line(line);
    if (++count % BREATH === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  check.end();
  return { origin: check.bundle.head.origin, size: check.bundle.head.size, ...check.bundle.counts };
}

/**
 * The verdict on a receipt or a bundle: { ok, reason, kind, isOwn, more }.
 *
 * @param bytes    the file
 * @param trusted  vkeys; none: those of the file, and `isOwn` says so
 */
export async function verified(bytes, trusted) {
  if (JSON.parse('1', (key, value, context) => context?.source) !== '1') throw new Error('This browser cannot judge the numbers of a record. Verify with: writ verify.');
  const verifier = await import('./verify.js');
  const { Buffer } = await import('./node.js');
  const value = new TextDecoder().decode(bytes);
  const kind = value.startsWith('{"format":"writ-bundle/1"') ? 'bundle' : 'receipt';
  const isOwn = trusted.length === 0;
  const told = { kind, isOwn };
  try {
    const keys = (isOwn ? ownKeys(value) : trusted).map(verifier.vkey);
    const trust = { keys, witnesses: [], quorum: 0 };
    const own = Buffer.from(bytes);
    if (kind === 'receipt') {
      const { ok, reason } = verifier.verdict('receipt', [own], trust);
      return { ...told, ok, reason, more: ok ? JSON.parse(value) : undefined };
    }
    return { ...told, ok: true, reason: 'ok', more: await checkBundle(verifier, own, trust) };
  } catch (error) {
    if (error instanceof verifier.Refused || error.isRefusal) return { ...told, ok: false, reason: error.message };
    throw error;
  }
}

function record({ kind, record: own }) {
  const at = own.issued_at ?? own.completed_at ?? own.at;
  return el('li', { class: 'event' }, at === undefined ? el('span', {}) : when(at),
    el('p', {}, el('strong', {}, kind), ' ', kind === 'decision' ? verdict(own.decision, own.extensions?.writ?.reason) : pill(own.event ?? own.outcome ?? own.decision), kind === 'decision' && [' ', name(own.tool), ' by ', name(own.agent_id ?? '')], own.by !== undefined && [' by ', name(own.by)]));
}

function counts(more) {
  const rows = [['Log', text(more.origin)], ['Records of the log', more.size], ['Records shown', more.records], ['Decisions', more.decisions], ['Outcomes', more.outcomes], ['Seals', more.seals], ['Events of reviews', more.review_events], ['Left out', more.skipped], ['Left out in between', more.skipped_inside], ['Withheld', more.withheld], ['Without an outcome', more.in_flight], ['Calls that ran twice', more.twice], ['Runs with gaps', more.faulty], ['Runs without a seal', more.unsealed]];
  return el('dl', { class: 'facts' }, rows.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value.nodeType === undefined ? String(value) : value))));
}

/** What a person reads of a verdict. */
function shown({ ok, reason, kind, isOwn, more }) {
  return [
    el('p', { class: 'line state' }, el('span', { class: `pill ${ok ? 'good' : 'bad'}` }, ok ? 'Valid' : 'Refused'), el('code', {}, reason),
      ok && el('span', { class: 'soft' }, kind === 'receipt' ? 'Every record is in the signed log, and belongs to this call.' : 'Every line follows from the signed log.')),
    ok && isOwn && el('p', { class: 'notice' }, 'Under the keys that the file itself names: this shows that it is consistent, not whose it is. Enter the ledger’s key, which you have from its operator by another way.'),
    ok && kind === 'receipt' && el('ol', { class: 'events' }, more.records.map(record)),
    ok && kind === 'bundle' && counts(more),
  ];
}

function keysField() {
  return el('textarea', { id: 'keys', rows: '3', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': 'keys-help' });
}

const keysHelp = () => el('p', { class: 'soft small', id: 'keys-help' }, 'The lines that ', el('code', {}, 'writ ledger key'), ' prints. Empty: the keys that the file names.');

/** Shows the verdict on bytes that `get` gives; the focus goes to it. */
async function judge(button, place, get, keys) {
  button.disabled = true;
  fill(place, el('p', { class: 'soft' }, 'Verifying…'));
  try {
    fill(place, shown(await verified(await get(), keyLines(keys.value))));
  } catch (error) {
    fill(place, el('p', { class: 'fault' }, error.message, error.hint && ` ${error.hint}`));
  } finally {
    button.disabled = false;
  }
  place.focus();
}

const verdictPlace = () => el('div', { class: 'verdict', role: 'status', tabindex: '-1' });

/** A file of the gateway, kept by the browser. */
async function download(id, what, fault) {
  fill(fault);
  try {
    const url = URL.createObjectURL(new Blob([await load(id, what)]));
    el('a', { href: url, download: `${what}-${id}.${what === 'receipt' ? 'json' : 'jsonl'}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    fill(fault, error.message, error.hint && ` ${error.hint}`);
  }
}

/** The part of a call's page. */
export function evidencePanel(id) {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const keys = keysField();
  const place = verdictPlace();
  const button = el('button', { type: 'button', class: 'quiet', id: 'verify-receipt' }, 'Verify its receipt here');
  button.addEventListener('click', () => judge(button, place, () => load(id, 'receipt'), keys));
  return el('section', { class: 'panel', 'aria-labelledby': 'evidence' }, el('h2', { id: 'evidence' }, 'Evidence'),
    el('p', {}, 'A receipt shows this call to a reader who trusts neither this gateway nor its operator; a bundle has its whole run. ', el('a', { href: '/evidence' }, 'Verify a file')),
    el('div', { class: 'deeds' },
      el('button', { type: 'button', class: 'quiet', onclick: () => download(id, 'receipt', fault) }, 'Download the receipt'),
      el('button', { type: 'button', class: 'quiet', onclick: () => download(id, 'bundle', fault) }, 'Download the bundle'), button),
    fault,
    el('details', {}, el('summary', {}, 'The keys to trust'), el('label', { for: 'keys' }, 'Trusted keys of the ledger'), keys, keysHelp()),
    place);
}

/** Verifies a file that a person has. */
export function evidenceView() {
  const file = el('input', { id: 'file', type: 'file', accept: '.json,.jsonl,application/json', required: true });
  const keys = keysField();
  const place = verdictPlace();
  const button = el('button', { class: 'main' }, 'Verify');
  const told = el('p', { class: 'fault', role: 'alert' });
  const form = el('form', { class: 'panel ballot', novalidate: true },
    el('label', { for: 'file' }, 'Receipt or bundle'), file,
    el('label', { for: 'keys' }, 'Trusted keys of the ledger'), keys, keysHelp(), told, button);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const [own] = file.files;
    fill(told, own === undefined && 'Choose a file first.');
    if (own === undefined) file.focus();
    else judge(button, place, async () => new Uint8Array(await own.arrayBuffer()), keys);
  });
  return {
    title: 'Evidence',
    element: el('section', {}, el('h1', { tabindex: '-1' }, 'Evidence'),
      el('p', {}, 'Nothing leaves the browser. The verifier comes from this gateway; to trust neither, run it yourself: ', el('code', {}, 'node verify.mjs receipt FILE KEYS'), ' or ', el('code', {}, 'writ verify receipt FILE --key KEYS'), '.'),
      form, place),
  };
}
