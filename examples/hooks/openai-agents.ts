// Function tools of the OpenAI Agents SDK, governed by a Writ gateway.
//
//     import { Agent, tool } from '@openai/agents';
//     const writ = new WritHooks({ url, token, framework: 'crew', run: conversationId });
//     const writeNote = tool(governed(writ, { name: 'write_note', description, parameters, execute }));
//
// A refused call throws Refused before `execute` runs; the model reads its reason. The id of a model's call is the
// idempotency key: a run that continues from its state does not make a call twice.
import { Refused } from './writ-hooks.ts';
import type { Arguments, WritHooks } from './writ-hooks.ts';

type Details = { toolCall?: { callId?: string } };
type Execute = (input: never, context?: never, details?: never) => unknown;

/** What the model reads of a failed call; as the SDK, which does not say how a tool failed. */
const explained = (_: unknown, error: unknown) => (error instanceof Refused
  ? `The call was refused: ${error.reason}: ${error.message}` : 'An error occurred while running the tool. Please try again.');

/** The options of tool(); `execute` runs only when the gateway permits the call. */
export function governed<T extends { name: string; execute: Execute }>(writ: WritHooks, options: T): T {
  const execute = (input: never, context?: never, details?: never) =>
    writ.call(options.name, input as Arguments, () => options.execute(input, context, details),
      (details as Details | undefined)?.toolCall?.callId);
  return { errorFunction: explained, ...options, execute };
}
