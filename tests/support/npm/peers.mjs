// peers.mjs - the pinned packages for tests, which live where bare names are not resolved. They load on demand, because
// each takes a while.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Path of a file of a package. */
export const resolve = (name) => require.resolve(name);

/** SDK v1: client, transports, server. */
export async function sdk1() {
  const [client, http, stdio, types, server, serverHttp] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'), import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/client/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'), import('@modelcontextprotocol/sdk/server/mcp.js'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);
  return { ...client, ...http, ...stdio, ...types, ...server, ...serverHttp };
}

/** SDK v1: the server over standard streams. */
export const sdk1Stdio = () => import('@modelcontextprotocol/sdk/server/stdio.js');

/** SDK v1: tasks in the form of 2025-11-25. */
export const sdk1Tasks = () => import('@modelcontextprotocol/sdk/experimental/tasks');

/** SDK v2: the client. */
export const sdk2 = () => import('@modelcontextprotocol/client');

/** SDK v2: the server, and what serves it with node:http. */
export async function sdk2Server() {
  const [server, node] =
    await Promise.all([import('@modelcontextprotocol/server'), import('@modelcontextprotocol/node')]);
  return { ...server, ...node };
}

/** SDK v2: the server over standard streams. */
export const sdk2ServerStdio = () => import('@modelcontextprotocol/server/stdio');

/** SDK v2: the client's transport to a server over standard streams. */
export const sdk2Stdio = () => import('@modelcontextprotocol/client/stdio');

export const zod = () => import('zod/v4');
export const jose = () => import('jose');

/** LangChain.js and LangGraph: what tests use of both. */
export async function langgraph() {
  const parts = await Promise.all([import('@langchain/core/tools'), import('@langchain/core/messages'),
    import('@langchain/core/language_models/chat_models'), import('@langchain/langgraph/prebuilt')]);
  return Object.assign({}, ...parts);
}

export const openaiAgents = () => import('@openai/agents');
export const claudeAgent = () => import('@anthropic-ai/claude-agent-sdk');
