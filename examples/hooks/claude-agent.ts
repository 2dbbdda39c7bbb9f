// Every tool use of the Claude Agent SDK, governed by a Writ gateway.
//
//     import { query } from '@anthropic-ai/claude-agent-sdk';
//     const writ = new WritHooks({ url, token, framework: 'coder', run: sessionId });
//     for await (const message of query({ prompt, options: { hooks: hooks(writ) } })) { ... }
//
// The rules name the tools as the SDK does: coder/Bash, coder/Write, coder/mcp__notes__write. A refused use is denied with
// its reason. What the gateway permits is still decided by the agent's own permissions. The id of the tool use is the
// idempotency key.
import type { HookCallback, HookCallbackMatcher, HookInput } from '@anthropic-ai/claude-agent-sdk';
import { asResult, usable } from './writ-hooks.ts';
import type { Arguments, Decision, WritHooks } from './writ-hooks.ts';

/** Tools of MCP servers answer with a list of contents. */
const inForm = (output: unknown) => (Array.isArray(output) ? { content: output } : asResult(output));

type Hooks = Record<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure', HookCallbackMatcher[]>;

/** The option `hooks` of query(). */
export function hooks(writ: WritHooks): Hooks {
  const bound = new Map<string, Decision>(); // tool_use_id -> a call without an outcome

  const before: HookCallback = async (input) => {
    const { tool_name, tool_input, tool_use_id } = input as HookInput & { hook_event_name: 'PreToolUse' };
    try {
      bound.set(tool_use_id, await writ.authorize(tool_name, tool_input as Arguments, tool_use_id));
      return {};
    } catch (error) { // also one that is no refusal: a hook that fails would let the tool run
      const { reason = 'unavailable', message } = error as Error & { reason?: string };
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny',
        permissionDecisionReason: `writ: ${reason}: ${message}` } };
    }
  };

  const take = (id: string) => {
    const decision = bound.get(id);
    bound.delete(id);
    return decision;
  };

  const after: HookCallback = async (input) => {
    const { tool_response, tool_use_id } = input as HookInput & { hook_event_name: 'PostToolUse' };
    const decision = take(tool_use_id);
    if (decision === undefined) return {};
    const replaced = (output: unknown) => ({ hookSpecificOutput: { hookEventName: 'PostToolUse' as const, updatedToolOutput: output } });
    try {
      const result = usable(await writ.tell(decision, 'executed', { result: inForm(tool_response) }), tool_response);
      return result === tool_response ? {} : replaced(result);
    } catch {
      return replaced('The result is withheld: its outcome could not be recorded.');
    }
  };

  const failed: HookCallback = async (input) => {
    const decision = take((input as HookInput & { hook_event_name: 'PostToolUseFailure' }).tool_use_id);
    if (decision !== undefined) await writ.tell(decision, 'error', { error_type: 'tool_error' });
    return {};
  };

  return { PreToolUse: [{ hooks: [before] }], PostToolUse: [{ hooks: [after] }], PostToolUseFailure: [{ hooks: [failed] }] };
}
