// Governs the tool calls of a TypeScript framework by a Writ gateway (docs/hooks.md). No packages;
// Node.js runs it as it is.
//
//     const writ = new WritHooks({ url: 'http://127.0.0.1:8700', token, framework: 'crew', run: 'run-17' });
//     const tools = { write_note: writ.governed('write_note', async ({ name, text }) => { ... }) };
//
// Everything fails closed: a call that was not bound, for whatever reason, is not made.
import { randomUUID } from 'node:crypto';

export type Arguments = Record<string, unknown>;
export type Decision = { decision_id: string; intent_ref: string } & Record<string, unknown>;
type Answer = Record<string, unknown>;

/** The call must not be made, or the gateway did not answer. `reason` is a name of docs/reasons.md. */
export class Refused extends Error {
  readonly reason: string;
  readonly answer: Answer;

  constructor(reason: string, message: string, answer: Answer = {}) {
    super(message);
    this.name = 'Refused';
    this.reason = reason;
    this.answer = answer;
  }
}

export type Options = {
  url: string;
  token: string;
  framework: string;
  /** boundary_id of all calls */
  run?: string;
  /** milliseconds to wait for an approval */
  wait?: number;
  /** milliseconds for one answer */
  timeout?: number;
};

const LOST = ['unavailable', 'overloaded', 'ledger_unavailable'];
const pause = (ms: number) => new Promise<void>((resolve) => { setTimeout(resolve, ms); });

/** A result in MCP's form, which rules for results apply to. */
export const asResult = (value: unknown) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) ?? '' }],
});

/** The part of a result that may be used, by the answer to its report. */
export function usable<R>(answer: Answer, result: R): R | string {
  if (answer.withheld !== undefined) return `The result is withheld: ${String(answer.withheld)}.`;
  if (answer.result === undefined) return result;
  const { content } = answer.result as { content?: { text?: string }[] };
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

export class WritHooks {
  readonly run: string;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.run = options.run ?? `run-${randomUUID()}`;
  }

  async #ask(deed: string, question: unknown): Promise<Answer> {
    const { url, token, timeout = 30_000 } = this.#options;
    let response: Response;
    let answer: Answer;
    try {
      response = await fetch(new URL(`/v1/${deed}`, url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(question),
        redirect: 'error',
        signal: AbortSignal.timeout(timeout),
      });
      answer = (await response.json()) as Answer;
    } catch (error) {
      throw new Refused('unavailable', `the gateway did not answer: ${String(error)}`);
    }
    if (!response.ok) throw new Refused(String(answer.reason), String(answer.title), answer);
    return answer;
  }

  /** Requests a decision and binds it, right before the call. Throws Refused. */
  async authorize(tool: string, args: Arguments, key?: string): Promise<Decision> {
    const call = { tool: `${this.#options.framework}/${tool}`, arguments: args };
    const until = Date.now() + (this.#options.wait ?? 0);
    for (;;) {
      const answer = await this.#ask('before', { ...call, boundary_id: this.run, ...(key !== undefined && { idempotency_key: key }) });
      if (answer.verdict === 'allow') {
        const decision = answer.decision as Decision;
        const binding = await this.#ask('bind', { authorization: decision, ...call });
        if (binding.verdict !== 'allow') throw new Refused(String(binding.reason), String(binding.message), binding);
        return decision;
      }
      const left = until - Date.now();
      if (answer.reason !== 'approval_required' || left <= 0) throw new Refused(String(answer.reason), String(answer.message), answer);
      await pause(Math.min(left, Number(answer.retry_after_ms ?? 1000)));
    }
  }

  /** Reports the outcome of a bound call. A lost report is sent again: the gateway takes it once. */
  async tell(decision: Decision, outcome: 'executed' | 'error' | 'timeout' | 'blocked', more: Answer = {}): Promise<Answer> {
    for (const rest of [200, 1000, 0]) {
      try {
        return await this.#ask('after', { decision_id: decision.decision_id, intent_ref: decision.intent_ref, outcome, ...more });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (error.reason === 'duplicate_outcome') return {};
        if (rest === 0 || !LOST.includes(error.reason)) throw error;
        await pause(rest);
      }
    }
    return {};
  }

  /** Makes a call: authorize, execute, tell. Gives the part of its result that may be used. */
  async call<R>(tool: string, args: Arguments, execute: () => R | Promise<R>, key?: string): Promise<R | string> {
    const decision = await this.authorize(tool, args, key);
    let result: R;
    try {
      result = await execute();
    } catch (error) {
      await this.tell(decision, 'error', { error_type: error instanceof Error ? error.name : 'Error' });
      throw error;
    }
    return usable(await this.tell(decision, 'executed', { result: asResult(result) }), result);
  }

  /** The governed tool: the policy decides on its arguments, and it returns the part of the result that may be used. */
  governed<A extends Arguments, R>(tool: string, execute: (args: A) => R | Promise<R>): (args: A, key?: string) => Promise<R | string> {
    return (args, key) => this.call(tool, args, () => execute(args), key);
  }

  /** Ends the run. */
  seal(): Promise<Answer> {
    return this.#ask('seal', { boundary_id: this.run });
  }
}
