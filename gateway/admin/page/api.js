// api.js - the requests of the page to the gateway, and the login.
import { exact, member } from './json.js';

const KEY = 'writ-page'; // goes with the cookie; only pages of this origin can read it

/** A refusal of the gateway. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem?.title ?? `The gateway answered with status ${status}.`);
    this.status = status;
    this.reason = problem?.reason ?? '';
    this.hint = problem?.hint ?? '';
    this.detail = problem?.detail ?? '';
  }
}

/** Fires 'out' when a request finds that the login has ended. */
export const login = new EventTarget();

function headers() {
  const key = localStorage.getItem(KEY);
  return key === null ? {} : { 'Writ-Page': key };
}

async function request(method, path, body) {
  const options = { method, headers: headers(), cache: 'no-store', redirect: 'error', credentials: 'same-origin' };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused(0, { title: 'The gateway cannot be reached.' });
  }
  const text = await response.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  if (response.ok && json !== undefined) return { json, text };
  throw new Refused(response.status, json);
}

async function asked(method, path, body) {
  try {
    return await request(method, path, body);
  } catch (error) {
    if (error.status === 401) login.dispatchEvent(new Event('out'));
    throw error;
  }
}

/** The part of an address behind the path, with `?`; empty without a member. */
export const query = (filter) => {
  const params = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '' && value !== undefined && value !== null));
  return params.size === 0 ? '' : `?${params}`;
};

/** The name in the certificate that the browser has shown, or null. */
export let certificate = null;

/** The logged-in person, or null. */
export async function whoIsIn() {
  if (localStorage.getItem(KEY) === null && location.protocol !== 'https:') return null;
  try {
    const { json } = await request('GET', '/v1/session');
    certificate = json.certificate ?? null;
    return json.agent_id === undefined ? null : json;
  } catch (error) {
    if (error.status === 401 || error.status === 403) return null;
    throw error;
  }
}

export async function logIn(shown) {
  const { json } = await request('POST', '/v1/session', shown);
  localStorage.setItem(KEY, json.key);
  return json;
}

export async function logOut() {
  try {
    await request('DELETE', '/v1/session');
  } finally {
    localStorage.removeItem(KEY);
  }
}

/** All reviews that are open or approved, page by page. */
export async function reviews() {
  const found = [];
  for (let place = {}; place !== undefined;) {
    const { json } = await asked('GET', `/v1/reviews${query(place)}`);
    found.push(...json.reviews);
    place = json.next === undefined ? undefined : { after: json.at, from: json.next };
  }
  return found;
}

/** The body of a stream of events that goes on after the event `last`. */
export async function stream(path, last, signal) {
  const response = await fetch(path, { headers: { ...headers(), Accept: 'text/event-stream', ...(last !== '' && { 'Last-Event-ID': last }) }, cache: 'no-store', signal });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => undefined));
  return response.body;
}

/** The candidates of a review, each with its texts as they were written. */
const proposed = (list) => list?.items.map((one) => ({ option: member(one, 'option').text, arguments: member(one, 'arguments'), state: member(one, 'target_state') }));

/** One review; arguments, candidates and the states of the target as they were written, undefined when they are not kept. */
export async function review(id) {
  const { json, text } = await asked('GET', `/v1/reviews/${encodeURIComponent(id)}`);
  const whole = exact(text);
  const written = ['arguments', 'target_state', 'target_state_before'].map((name) => [name, member(whole, name)]);
  return { ...json, ...Object.fromEntries(written), candidates: proposed(member(whole, 'candidates')) };
}

/** Where its values and the labels of its run came from, with kept texts: the gateway records that they were read. */
export const sources = async (id) => (await asked('GET', `/v1/reviews/${encodeURIComponent(id)}/sources`)).json;

export const act = async (id, deed, body = {}) => (await asked('POST', `/v1/reviews/${encodeURIComponent(id)}/${deed}`, body)).json;

/** A page of the delegations: `after` is `next` of the page before. */
export const delegations = async (after) => (await asked('GET', `/v1/delegations${query({ after })}`)).json;
export const delegate = async (wanted) => (await asked('POST', '/v1/delegations', wanted)).json;
export const revokeDelegation = async (id) => (await asked('POST', `/v1/delegations/${encodeURIComponent(id)}/revoke`, {})).json;

export const overview = async (span) => (await asked('GET', `/v1/overview${query({ span })}`)).json;

export const kills = async () => (await asked('GET', '/v1/kills')).json.kills;
export const pull = async (stop) => (await asked('POST', '/v1/kills', stop)).json;
export const lift = async (id, reason) => (await asked('POST', `/v1/kills/${encodeURIComponent(id)}/lift`, { reason })).json;
export const preview = async ({ by, value, tenant }) => (await asked('POST', '/v1/kills/preview', { by, value, tenant })).json;

export const tools = async () => (await asked('GET', '/v1/tools')).json.tools;
export const difference = async (tool) => (await asked('GET', `/v1/tools/difference${query({ tool })}`)).json;
export const accept = async (tool, digest, odd) => (await asked('POST', '/v1/tools/accept', { tool, digest, odd })).json;

export const budgets = async () => (await asked('GET', '/v1/budgets')).json;
export const policy = async () => (await asked('GET', '/v1/policy')).json;
export const policyHistory = async () => (await asked('GET', '/v1/policy/history')).json;

/** The rules that differ between two versions, also with their exact text. */
export async function policyDifference(from, to) {
  const { json, text } = await asked('GET', `/v1/policy/difference${query({ from, to })}`);
  return { ...json, exact: exact(text) };
}

/** The verdicts that an edit changes, of kept calls. The gateway records the look before it answers. */
export const replay = async (edit) => (await asked('POST', '/v1/policy/replay', edit)).json;

export const calls = async (filter) => (await asked('GET', `/v1/ledger${query(filter)}`)).json;

/** The records of a call, and their exact text. */
export async function call(id) {
  const { json, text } = await asked('GET', `/v1/ledger/${encodeURIComponent(id)}`);
  return { ...json, exact: exact(text) };
}

/** The bytes of a receipt or a bundle: `what` is its name in the address. */
export async function evidence(id, what) {
  const response = await fetch(`/v1/ledger/${encodeURIComponent(id)}/${what}`, { headers: headers(), cache: 'no-store', redirect: 'error', credentials: 'same-origin' })
    .catch(() => { throw new Refused(0, { title: 'The gateway cannot be reached.' }); });
  if (response.status === 401) login.dispatchEvent(new Event('out'));
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => undefined));
  return new Uint8Array(await response.arrayBuffer());
}

/** The kept contents of a decision. The gateway records the look before it answers. */
export async function contents(id) {
  const { json, text } = await asked('GET', `/v1/contents/${encodeURIComponent(id)}`);
  const whole = exact(text);
  return { ...json, arguments: member(whole, 'arguments'), result: member(whole, 'result') };
}

/** Why a decision was made, judged again with its kept arguments. The gateway records the look before it answers. */
export const why = async (id) => (await asked('GET', `/v1/contents/${encodeURIComponent(id)}/why`)).json;
