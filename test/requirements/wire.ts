import type { Requirements } from '../requirement.ts'

/** The HTTP interface: mounts, eras, sessions, resources, errors and guards. */
export const wire = {
  'wire:name:full': {
    origin: 'original MCP integration, tool execution flow',
    behaviour: '/mcp lists and calls tools as App__tool',
  },
  'wire:name:bare': {
    origin: 'design, the wire',
    behaviour: '/mcp/<app> lists and calls the tools of one app under their names without prefix',
  },
  'wire:name:limits': {
    origin: 'design, the wire: names',
    behaviour: 'every wire name matches ^[A-Za-z0-9_-]{1,49}$',
  },
  'wire:list:deterministic': {
    origin: 'MCP 2026-07-28 server/tools',
    behaviour:
      'tools/list is the same in both eras and for every request, with schemas that ajv 2020 compiles without references',
  },
  'wire:task:created': {
    origin: 'extension io.modelcontextprotocol/tasks of MCP 2026-07-28',
    behaviour: 'a slow call becomes a task if the client supports tasks, and its result is available later',
  },
  'wire:task:cancelled': {
    origin: 'extension io.modelcontextprotocol/tasks of MCP 2026-07-28',
    behaviour: 'cancelling a task aborts its call, and the task stays cancelled',
  },
  'wire:task:restart': {
    origin: 'design, a server that people leave running',
    behaviour: 'after a restart a finished task still exists, and an unfinished one has failed',
  },
  'wire:task:drained': {
    origin: 'design, a server that people leave running',
    behaviour: 'a stopping server gives tasks the same grace period as calls',
  },
  'wire:task:unwritable': {
    origin: 'design, a server that people leave running',
    behaviour:
      'the result of a task that cannot be saved is returned from memory, logged, and saved as soon as possible',
  },
  'wire:list:changed': {
    origin: 'MCP 2025-11-25 and 2026-07-28 server/tools, list changed',
    behaviour: 'a changed list is notified to every connected client of its mount, in both eras',
  },
  'wire:list:pages': {
    origin: 'MCP 2025-11-25 server/utilities/pagination',
    behaviour: 'a long list is paged with an opaque cursor, and an invalid cursor is -32602',
  },
  'wire:list:cache-hints': {
    origin: 'MCP 2026-07-28 server/utilities/caching',
    behaviour: 'modern lists carry ttlMs and cacheScope',
  },
  'wire:era:per-message': {
    origin: 'MCP 2026-07-28 basic/versioning',
    behaviour: 'modern and legacy messages on one connection are each answered in their own era',
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
    behaviour: 'the original curl of initialize works literally and returns plain JSON',
  },
  'wire:lenient:curl-list': {
    origin: 'original MCP integration, testing directly',
    behaviour: 'the original curl of tools/list works literally and returns plain JSON',
  },
  'wire:lenient:curl-call': {
    origin: 'original MCP integration, testing directly',
    behaviour: 'the original curl of tools/call works without handshake or Accept and returns plain JSON',
  },
  'wire:stream:progress': {
    origin: 'MCP 2025-11-25 basic/utilities/progress',
    behaviour: 'a call with a progress token streams its progress before its result',
    over: ['http', 'bridge'],
  },
  'wire:stream:cancel': {
    origin: 'MCP 2025-11-25 basic/utilities/cancellation',
    behaviour: 'cancelling a call aborts the signal of its handler, in both eras',
    over: ['http', 'bridge'],
  },
  'wire:stream:get': {
    origin: 'MCP 2025-11-25 basic/transports, listening',
    behaviour: 'a GET stream of a session sends server messages; without a session it is 405',
  },
  'wire:stream:resume': {
    origin: 'MCP 2025-11-25 basic/transports, resumability',
    behaviour: 'a broken stream is resumed with Last-Event-ID without loss or repetition',
  },
  'wire:stream:server-request': {
    origin: 'MCP 2025-11-25 client/roots',
    behaviour: 'the server sends a request to a connected client and receives its response',
    over: ['http', 'bridge'],
  },
  'wire:sse:connect': {
    origin: 'MCP 2024-11-05 basic/transports; original design of the cognitive agents, connection',
    behaviour:
      '/sse and /sse/<app> send an endpoint, and responses to messages posted there arrive on the stream',
  },
  'wire:sse:stream': {
    origin: 'MCP 2024-11-05 basic/transports',
    behaviour: 'an SSE stream stays open and sends progress, and its calls end with it',
  },
  'wire:sse:clients': {
    origin: 'MCP 2024-11-05 basic/transports',
    behaviour: 'the SSE clients of both SDKs work the same as over newer transports',
  },
  'wire:alias': {
    origin: 'design, the wire: alias listeners',
    behaviour: 'CAUSEWAY_LISTEN opens additional ports that serve one app at the root',
  },
  'wire:conformance': {
    origin: 'MCP, the official conformance suite',
    behaviour:
      'the official conformance suite passes, except for extensions that the server does not support',
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
    behaviour: 'a subscriber is notified by URI when a resource changes, until it unsubscribes',
  },
  'wire:prompt': {
    origin: 'MCP 2025-11-25 server/prompts',
    behaviour: 'prompts are listed and returned, and their arguments are validated',
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
    behaviour: 'a message that is not a JSON-RPC request is -32600',
  },
  'wire:error:no-http': {
    origin: 'design, the wire: answers',
    behaviour:
      'malformed HTTP and invalid WebSocket upgrades get an error with a code on every port; a client that disconnects is not logged as an error',
  },
  'wire:error:sdk': {
    origin: 'design, the wire: answers',
    behaviour: 'errors of the SDK have a code and a remedy like all errors, on every transport',
  },
  'wire:error:content-type': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour: 'a body of another content type is rejected with 415 and a remedy',
  },
  'wire:error:route-types': {
    origin: 'threat model, requests without preflight',
    behaviour:
      'app routes reject a body without a content type or of a type that they do not list; the list is in the error and in /openapi.json',
  },
  'wire:error:content-encoding': {
    origin: 'RFC 9110 section 12.5.3',
    behaviour:
      'a body with an unsupported content coding gets 415 with the supported ones in Accept-Encoding',
  },
  'wire:error:stalled': {
    origin: 'threat model, slow requests',
    behaviour:
      'incomplete headers and bodies without progress get 408 after a timeout, on every port; a slow body does not',
  },
  'wire:error:body-limit': {
    origin: 'design, safe by default',
    behaviour: 'a body of 20 MB is rejected with 413 and the limit',
  },
  'wire:error:sdk-clients': {
    origin: 'design, the wire: answers',
    behaviour: 'SDK clients v1 and v2 that listed tools receive tool errors as results, in both eras',
  },
  'wire:guard:host': {
    origin: 'MCP 2025-11-25 basic/transports, security warning',
    behaviour: 'a foreign Host is rejected on every route',
  },
  'wire:guard:origin': {
    origin: 'MCP 2025-11-25 basic/transports, security warning',
    behaviour: 'a foreign Origin is rejected on every route',
  },
  'wire:guard:own-origin': {
    origin: 'threat model, web pages of other local servers',
    behaviour:
      "only pages of the server's own ports need no token; another port, scheme or host is rejected on every route",
  },
  'wire:guard:allowed-origin': {
    origin: 'threat model, MCP clients in a browser',
    behaviour:
      'a page of CAUSEWAY_ALLOWED_ORIGINS can pass its preflight, call tools, and read responses and session ids',
  },
  'wire:guard:token-origin': {
    origin: 'threat model, MCP clients in a browser',
    behaviour: 'with a token file, a page of any origin requires a valid token',
  },
  'wire:guard:loopback': {
    origin: 'original MCP integration, security considerations',
    behaviour: 'the server listens on loopback only',
  },
  'wire:rest:picture': {
    origin: 'users of plot, render_frame and render_map over HTTP',
    behaviour:
      'a tool with a picture returns its URL over REST, or the picture itself to a client that accepts image/png',
  },
  'wire:rest:call': {
    origin: 'design, the wire',
    behaviour:
      'POST /api/apps/<app>/tools/<tool> returns plain JSON, and the status of its error code on failure',
  },
  'wire:rest:list': {
    origin: 'design, the wire',
    behaviour: 'GET /api/apps lists apps and tools, and /openapi.json describes every call',
  },
  'wire:session:isolated': {
    origin: 'original replay design, multiple sessions',
    behaviour: "clients with different sessions never see each other's state: bridge, legacy HTTP and header",
  },
  'wire:stream:lost-answer': {
    origin: 'MCP 2025-11-25, resumability and redelivery; design, the wire: sessions',
    behaviour:
      'resuming a stream whose response was discarded, for example after a restart, is rejected with a remedy',
  },
  'wire:session:key-form': {
    origin: 'design, the wire: sessions',
    behaviour: 'a Causeway-Session header that does not match [A-Za-z0-9._-]{1,128} is rejected',
  },
  'wire:alias:root': {
    origin: 'original plot state server, legacy interfaces',
    behaviour:
      "an app's routes are served at the root of its port, including POST / and paths below /tools, and take precedence over those of the server",
  },
  'wire:alias:health': {
    origin: 'original plot state server, health',
    behaviour: '/health on the port of an app reports status, server, mcp_endpoint and port of this app only',
  },
  'wire:socket': {
    origin: 'original plot state server, legacy interfaces',
    behaviour:
      'a WebSocket of an app sends a greeting, replies to text frames in order, and has its own state, below /api/apps and at the root of its port',
  },
  'wire:socket:guard': {
    origin: 'design, safe by default',
    behaviour:
      'an upgrade with a foreign Host or Origin, or for an unknown socket, is rejected with an HTTP status',
  },
  'wire:socket:failure': {
    origin: 'design, an app',
    behaviour:
      'an error of a socket handler is sent as an error object and the connection stays open; binary or oversized frames close it',
  },
  'wire:socket:backpressure': {
    origin: 'design, safe by default',
    behaviour: 'the server stops reading from a client that does not read its responses',
  },
  'wire:socket:shutdown': {
    origin: 'design, the wire: eras',
    behaviour:
      'a stopping server finishes the current frame, closes sockets with 1001, and does not wait for unresponsive clients',
  },
  'wire:upgrade:other': {
    origin: 'design, safe by default',
    behaviour: 'a request that offers an upgrade to another protocol is served without the upgrade',
  },
} as const satisfies Requirements
