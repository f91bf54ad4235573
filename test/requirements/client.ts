import type { Requirements } from '../requirement.ts'

/** Real clients, and what the README tells people to type. */
export const client = {
  'client:sdk-v1': {
    origin: 'MCP TypeScript SDK 1.32',
    behaviour: 'the v1 SDK client connects, lists, calls, reads and is told of changes',
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
    behaviour: 'three curls tell the same story as a client does',
  },
  'client:claude-code': {
    origin: 'Claude Code, mcp add and list',
    behaviour: 'Claude Code adds the server and finds it connected, without an account',
    over: ['http', 'bridge'],
  },
  'client:claude-code:restart': {
    origin: 'Claude Code, mcp add and list',
    behaviour:
      'Claude Code finds the server connected through the bridge, also after the server was restarted',
  },
  'client:claude-code:autostart': {
    origin: 'Claude Code, mcp add and list',
    behaviour: 'Claude Code finds the server connected where the bridge has to start it',
  },
  'client:readme': {
    origin: 'design, seen by a new user',
    behaviour: 'every command in the README works as written',
  },
  'client:config-files': {
    origin: 'design, seen by a new user',
    behaviour: '.mcp.json and .vscode/mcp.json of the repository name commands that work',
  },
  'client:example-app': {
    origin: 'design, the tree',
    behaviour: 'the example user app is loaded, listed and answers its example',
  },
} as const satisfies Requirements
