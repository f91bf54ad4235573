import type { Requirements } from '../requirement.ts'

/** Real clients, and the commands of the README. */
export const client = {
  'client:sdk-v1': {
    origin: 'MCP TypeScript SDK 1.32',
    behaviour: 'the v1 SDK client connects, lists, calls, reads and is notified of changes',
    over: ['http', 'bridge'],
  },
  'client:sdk-v2': {
    origin: 'MCP TypeScript SDK 2.4',
    behaviour: 'the v2 SDK client does the same in its default, auto and pinned modern modes',
    over: ['http', 'bridge'],
  },
  'client:inspector': {
    origin: 'MCP Inspector, command line',
    behaviour: "the Inspector's command line lists and calls tools",
    over: ['http', 'bridge'],
  },
  'client:curl': {
    origin: 'original MCP integration, testing directly',
    behaviour: 'three curl commands get the same results as a client',
  },
  'client:claude-code': {
    origin: 'Claude Code, mcp add and list',
    behaviour: 'Claude Code adds the server and connects to it, without an account',
    over: ['http', 'bridge'],
  },
  'client:claude-code:restart': {
    origin: 'Claude Code, mcp add and list',
    behaviour: 'Claude Code connects to the server through the bridge, also after a restart of the server',
  },
  'client:claude-code:autostart': {
    origin: 'Claude Code, mcp add and list',
    behaviour: 'Claude Code connects to a server that the bridge starts',
  },
  'client:readme': {
    origin: 'design, seen by a new user',
    behaviour: 'every command in the README works as written',
  },
  'client:config-files': {
    origin: 'design, seen by a new user',
    behaviour: '.mcp.json and .vscode/mcp.json of the repository contain commands that work',
  },
  'client:example-app': {
    origin: 'design, the tree',
    behaviour: 'the example user app is loaded and listed, and its example call succeeds',
  },
} as const satisfies Requirements
