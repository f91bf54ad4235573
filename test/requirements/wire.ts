import type { Requirements } from '../requirement.ts'

/** What travels over HTTP: mounts, eras, sessions, resources, limits and guards. */
export const wire = {
  'wire:name:full': {
    origin: 'original MCP integration, tool execution flow',
    behaviour: '/mcp lists and calls tools as App__tool',
  },
  'wire:name:bare': {
    origin: 'design, the wire',
    behaviour: '/mcp/<app> lists and calls the tools of one app under their bare names',
  },
  'wire:name:limits': {
    origin: 'design, the wire: names',
    behaviour: 'every wire name matches ^[A-Za-z0-9_-]{1,49}$',
  },
  'wire:list:deterministic': {
    origin: 'MCP 2026-07-28 server/tools',
    behaviour:
      'tools/list is the same in both eras and every time, with schemas that ajv 2020 compiles alone',
  },
  'wire:task:created': {
    origin: 'extension io.modelcontextprotocol/tasks of MCP 2026-07-28',
    behaviour:
      'a call that takes its time becomes a task for a client that knows tasks, and its answer is found later',
  },
  'wire:task:cancelled': {
    origin: 'extension io.modelcontextprotocol/tasks of MCP 2026-07-28',
    behaviour: 'a task that is cancelled aborts its call and stays cancelled',
  },
  'wire:task:restart': {
    origin: 'design, a server that people leave running',
    behaviour: 'after a restart a finished task is still there, and an unfinished one has failed and says so',
  },
  'wire:task:drained': {
    origin: 'design, a server that people leave running',
    behaviour: 'a server that is told to stop lets tasks end as long as it lets calls',
  },
  'wire:task:unwritable': {
    origin: 'design, a server that people leave running',
    behaviour:
      'the end of a task that cannot be written down is told from memory, logged, and written down as soon as it can be',
  },
  'wire:list:changed': {
    origin: 'MCP 2025-11-25 and 2026-07-28 server/tools, list changed',
    behaviour: 'a changed list is announced to every connected client of that mount, in both eras',
  },
  'wire:list:pages': {
    origin: 'MCP 2025-11-25 server/utilities/pagination',
    behaviour: 'a long list is paged by an opaque cursor, and a wrong cursor is -32602',
  },
  'wire:list:cache-hints': {
    origin: 'MCP 2026-07-28 server/utilities/caching',
    behaviour: 'modern lists carry ttlMs and cacheScope',
  },
  'wire:era:per-message': {
    origin: 'MCP 2026-07-28 basic/versioning',
    behaviour: 'modern and legacy messages are answered each in its own era on one connection',
  },
  'wire:era:legacy-session': {
    origin: 'MCP 2025-11-25 basic/transports, session management',
    behaviour: 'initialize opens a session, an unknown session is 404, DELETE ends it',
  },
  'wire:era:modern-errors': {
    origin: 'MCP 2026-07-28 basic/transports',
    behaviour:
      'a missing header, an unsupported version and an unknown method have the standard numbers and statuses',
  },
  'wire:lenient:curl-initialize': {
    origin: 'original MCP integration, testing directly',
    behaviour: 'the original curl of initialize works literally and answers plain JSON',
  },
  'wire:lenient:curl-list': {
    origin: 'original MCP integration, testing directly',
    behaviour: 'the original curl of tools/list works literally and answers plain JSON',
  },
  'wire:lenient:curl-call': {
    origin: 'original MCP integration, testing directly',
    behaviour: 'the original curl of tools/call works without handshake or Accept and answers plain JSON',
  },
  'wire:stream:progress': {
    origin: 'MCP 2025-11-25 basic/utilities/progress',
    behaviour: 'a call with a progress token streams its progress before the answer',
    over: ['http', 'bridge'],
  },
  'wire:stream:cancel': {
    origin: 'MCP 2025-11-25 basic/utilities/cancellation',
    behaviour: 'cancelling a call aborts the signal of its handler, in both eras',
    over: ['http', 'bridge'],
  },
  'wire:stream:get': {
    origin: 'MCP 2025-11-25 basic/transports, listening',
    behaviour: 'a GET stream of a session carries server messages; without a session it is 405',
  },
  'wire:stream:resume': {
    origin: 'MCP 2025-11-25 basic/transports, resumability',
    behaviour: 'a broken stream is resumed by Last-Event-ID without loss or repetition',
  },
  'wire:stream:server-request': {
    origin: 'MCP 2025-11-25 client/roots',
    behaviour: 'the server asks a connected client and receives its answer',
    over: ['http', 'bridge'],
  },
  'wire:sse:connect': {
    origin: 'MCP 2024-11-05 basic/transports; original design of the cognitive agents, connection',
    behaviour: '/sse and /sse/<app> name an endpoint, and what is posted there is answered on the stream',
  },
  'wire:sse:stream': {
    origin: 'MCP 2024-11-05 basic/transports',
    behaviour: 'an SSE stream is kept open, carries progress, and takes its calls with it when it ends',
  },
  'wire:sse:clients': {
    origin: 'MCP 2024-11-05 basic/transports',
    behaviour: 'the SSE clients of both SDKs work as over the newer transports',
  },
  'wire:alias': {
    origin: 'design, the wire: alias listeners',
    behaviour: 'CAUSEWAY_LISTEN opens further ports that serve one app at the root',
  },
  'wire:conformance': {
    origin: 'MCP, the official conformance suite',
    behaviour: 'the official conformance suite passes, but for extensions that the server does not have',
  },
  'wire:resource:read': {
    origin: 'MCP 2025-11-25 server/resources',
    behaviour: 'resources and templates are listed and read; an unknown one is an error',
    over: ['http', 'bridge'],
  },
  'wire:resource:template': {
    origin: 'design, the wire: resources',
    behaviour: 'template variables are slash-free and percent-decoded',
  },
  'wire:resource:subscribe': {
    origin: 'MCP 2025-11-25 server/resources, subscriptions',
    behaviour: 'a subscriber is told by URI that a resource changed, and after unsubscribing no more',
  },
  'wire:prompt': {
    origin: 'MCP 2025-11-25 server/prompts',
    behaviour: 'prompts are listed and got with their arguments checked',
  },
  'wire:completion': {
    origin: 'MCP 2025-11-25 server/utilities/completion',
    behaviour: 'arguments of templates and prompts are completed',
  },
  'wire:error:unknown-tool': {
    origin: 'MCP 2025-11-25 server/tools, error handling',
    behaviour: 'an unknown tool is -32602',
    over: ['http', 'bridge'],
  },
  'wire:error:unknown-method': {
    origin: 'original replay design, error code standards',
    behaviour: 'an unknown method is -32601',
    over: ['http', 'bridge'],
  },
  'wire:error:invalid-json': {
    origin: 'original replay design, error code standards',
    behaviour: 'a body that is not JSON is -32700 with id null',
  },
  'wire:error:invalid-request': {
    origin: 'original replay design, error code standards',
    behaviour: 'a message that is no JSON-RPC request is -32600',
  },
  'wire:error:no-http': {
    origin: 'design, the wire: answers',
    behaviour:
      'bytes that are no HTTP request, and an upgrade that is no WebSocket, get a coded error on every port; a caller that hangs up is no failure of ours',
  },
  'wire:error:sdk': {
    origin: 'design, the wire: answers',
    behaviour:
      'what the SDK refuses by a number has the code and the remedy that every error has, on each leg',
  },
  'wire:error:content-type': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour: 'a body of another content type is refused with 415 and what to send',
  },
  'wire:error:route-types': {
    origin: 'threat model, requests without preflight',
    behaviour:
      'app routes refuse a body without a content type or of a type that they do not list; the list is in the error and in /openapi.json',
  },
  'wire:error:content-encoding': {
    origin: 'RFC 9110 section 12.5.3',
    behaviour:
      'a body with an unsupported content coding gets 415 with the supported ones in Accept-Encoding',
  },
  'wire:error:stalled': {
    origin: 'threat model, slow requests',
    behaviour:
      'headers that are not complete in time and bodies that make no progress get 408, on every port; a slow body that progresses does not',
  },
  'wire:error:body-limit': {
    origin: 'design, safe by default',
    behaviour: 'a body of 20 MB is refused with 413 and the limit',
  },
  'wire:error:sdk-clients': {
    origin: 'design, the wire: answers',
    behaviour: 'SDK clients v1 and v2 that listed tools receive tool errors as answers, in both eras',
  },
  'wire:guard:host': {
    origin: 'MCP 2025-11-25 basic/transports, security warning',
    behaviour: 'an evil Host is refused on every route',
  },
  'wire:guard:origin': {
    origin: 'MCP 2025-11-25 basic/transports, security warning',
    behaviour: 'an evil Origin is refused on every route',
  },
  'wire:guard:own-origin': {
    origin: 'threat model, web pages of other local servers',
    behaviour:
      "a page calls without a token only from the server's own ports; another port, scheme or host is refused on every route",
  },
  'wire:guard:allowed-origin': {
    origin: 'threat model, MCP clients in a browser',
    behaviour:
      'a page of CAUSEWAY_ALLOWED_ORIGINS passes its preflight, calls, and reads responses and sessions',
  },
  'wire:guard:token-origin': {
    origin: 'threat model, MCP clients in a browser',
    behaviour: 'with a token file, a page of any origin calls with a valid token and not without',
  },
  'wire:guard:loopback': {
    origin: 'original MCP integration, security considerations',
    behaviour: 'the server listens on loopback only',
  },
  'wire:rest:call': {
    origin: 'design, the wire',
    behaviour:
      'POST /api/apps/<app>/tools/<tool> answers plain JSON, with the status of the error table when it fails',
  },
  'wire:rest:list': {
    origin: 'design, the wire',
    behaviour: 'GET /api/apps lists apps and tools, and /openapi.json describes every call',
  },
  'wire:session:isolated': {
    origin: 'original replay design, multiple sessions',
    behaviour:
      "clients with sessions of their own never see each other's state: bridge, legacy HTTP and header",
  },
  'wire:stream:lost-answer': {
    origin: 'MCP 2025-11-25, resumability and redelivery; design, the wire: sessions',
    behaviour:
      'the stream of an answer that is no longer kept, as after a restart, is refused with what to do: on a new one the answer would never come',
  },
  'wire:session:key-form': {
    origin: 'design, the wire: sessions',
    behaviour: 'a Causeway-Session header outside [A-Za-z0-9._-]{1,128} is refused',
  },
  'wire:alias:root': {
    origin: 'original plot state server, legacy interfaces',
    behaviour:
      "an app's own routes stand at the root of its port, POST / and paths below /tools included, and before the server's",
  },
  'wire:alias:health': {
    origin: 'original plot state server, health',
    behaviour: '/health of the port of an app tells status, server, mcp_endpoint and port of this app alone',
  },
  'wire:socket': {
    origin: 'original plot state server, legacy interfaces',
    behaviour:
      'a WebSocket of an app greets, answers text frames in order, and keeps a state of its own, below /api/apps and at the root of its port',
  },
  'wire:socket:guard': {
    origin: 'design, safe by default',
    behaviour:
      'an upgrade with a foreign Host or Origin, or to where no socket is, is refused with its HTTP status',
  },
  'wire:socket:failure': {
    origin: 'design, an app',
    behaviour:
      'what a socket throws is sent as an error object and the connection stays open; frames that are binary or too large close it',
  },
  'wire:socket:backpressure': {
    origin: 'design, safe by default',
    behaviour: 'a client that sends without reading is read no further than it is answered',
  },
  'wire:socket:shutdown': {
    origin: 'design, the wire: eras',
    behaviour:
      'stopping answers the frame at work, closes sockets with 1001, and does not wait for silent peers',
  },
  'wire:upgrade:other': {
    origin: 'design, safe by default',
    behaviour: 'a request that offers an upgrade to another protocol is served as it is',
  },
} as const satisfies Requirements
