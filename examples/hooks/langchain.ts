// Tools of LangChain.js and LangGraph, governed by a Writ gateway.
//
//     import { tool } from '@langchain/core/tools';
//     const writ = new WritHooks({ url, token, framework: 'crew', run: threadId });
//     const tools = [writeNote, readNote].map((one) => governed(writ, one)); // made by tool(...)
//     const node = new ToolNode(tools);                                      // or bindTools, createReactAgent, ...
//
// A refused call throws Refused before the tool runs; ToolNode makes a message with status "error" of it for the model.
// The id of a model's tool call is the idempotency key: a graph that continues from a checkpoint does not run it twice.
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { Arguments, WritHooks } from './writ-hooks.ts';

type Config = { toolCall?: { id?: string } };

/** The same tool; its function runs only when the gateway permits the call. */
export function governed<T extends Pick<DynamicStructuredTool, 'name' | 'func'>>(writ: WritHooks, tool: T): T {
  const { func } = tool;
  tool.func = (input, manager, config) =>
    writ.call(tool.name, input as Arguments, () => func(input, manager, config), (config as Config | undefined)?.toolCall?.id);
  return tool;
}
