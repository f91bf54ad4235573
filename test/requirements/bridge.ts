import type { Requirements } from '../requirement.ts'

/** The bridge between a stdio client and the server. */
export const bridge = {
  'bridge:transcripts': {
    origin: 'docs/bridge.md',
    behaviour: 'requests, headers and lines equal the recorded transcripts, with and without optional stages',
  },
  'bridge:relay:eras': {
    origin: 'design, the wire: eras',
    behaviour: 'messages of both eras are forwarded unchanged, and the era is decided per message',
  },
  'bridge:relay:ids': {
    origin: 'original MCP integration, stdio wrapper; JSON-RPC 2.0 section 4',
    behaviour: 'ids keep their JSON type: string, zero, negative, fraction and large number',
  },
  'bridge:relay:concurrent': {
    origin: 'JSON-RPC 2.0 section 6',
    behaviour: 'concurrent calls get their responses as they finish, and a slow call does not delay others',
  },
  'bridge:relay:batch': {
    origin: 'MCP 2025-03-26 basic/transports',
    behaviour:
      'every request of a batch gets one response, and a batch is repeated only if each message may be repeated',
  },
  'bridge:relay:notification': {
    origin: 'JSON-RPC 2.0 section 4.1',
    behaviour: 'a notification is forwarded and gets no response',
  },
  'bridge:relay:one-way': {
    origin: 'MCP 2025-11-25 basic/lifecycle and basic/transports',
    behaviour:
      'notifications/initialized and replies to the server survive a busy server and a broken connection',
  },
  'bridge:relay:pipelined': {
    origin: 'MCP 2025-11-25 basic/lifecycle',
    behaviour: 'messages right after initialize wait for its response and use its session',
  },
  'bridge:relay:server-notification': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour: 'list_changed and resource updates of the server reach the client',
  },
  'bridge:relay:protocol-version': {
    origin: 'MCP 2025-11-25 basic/transports, protocol version header',
    behaviour:
      'requests after initialize have the negotiated version, and stateless requests their method and name headers',
  },
  'bridge:relay:bytes': {
    origin: 'design, path of a message',
    behaviour: 'the client receives the bytes of the response, also of large ones',
  },
  'bridge:relay:stream': {
    origin: 'MCP 2025-11-25 basic/transports, streamable HTTP',
    behaviour: 'the client receives progress and requests of the server before the response, and can reply',
  },
  'bridge:relay:cancel': {
    origin: 'MCP 2025-11-25 and 2026-07-28 basic/utilities/cancellation',
    behaviour: 'a cancelled call is cancelled as its era requires, and its client receives nothing more',
  },
  'bridge:relay:limit': {
    origin: 'design, budgets',
    behaviour: 'at most 256 calls are sent at the same time; later calls wait, and the bridge stops reading',
  },
  'bridge:relay:repeat': {
    origin: 'RFC 9110 section 9.2.2; design, safe retries',
    behaviour: 'a call on a stale connection is repeated once unless it may have had an effect',
  },
  'bridge:wait:start': {
    origin: 'design, path of a message',
    behaviour: 'initialize and server/discover wait until the server responds',
  },
  'bridge:wait:budget': {
    origin: 'original MCP integration, stdio wrapper: error handling',
    behaviour: 'the error of an unreachable server contains URL, cause, time waited and remedy',
  },
  'bridge:wait:report': {
    origin: 'a person who starts the bridge by hand',
    behaviour: 'the bridge writes to standard error that the server is unreachable, and what to run',
  },
  'bridge:wait:session': {
    origin: 'design, sessions survive a server restart',
    behaviour: 'calls that were not written wait until the server is back',
  },
  'bridge:wait:repeat': {
    origin: 'design, safe retries; MCP 2025-11-25 server/tools, annotations',
    behaviour: 'a tool call that the server may have received is repeated only if that has no second effect',
  },
  'bridge:wait:busy': {
    origin: 'RFC 9110 sections 10.2.3 and 15.6.4',
    behaviour:
      'a safe call is repeated while the server is busy, after the Retry-After of the server up to 5 s',
  },
  'bridge:autostart': {
    origin: 'design, settings: autostart',
    behaviour: 'one of several bridges starts the server, and reports if it fails',
  },
  'bridge:relay:param-headers': {
    origin: 'MCP 2026-07-28 basic/transports, custom headers from tool parameters',
    behaviour: 'the annotated arguments of a stateless tool call are sent as headers',
  },
  'bridge:stream:resume': {
    origin: 'MCP 2025-11-25 basic/transports, resumability',
    behaviour: 'a response whose stream ended or broke is resumed after its last event',
  },
  'bridge:stream:promised': {
    origin: 'MCP 2025-11-25 basic/transports, sending messages',
    behaviour: 'the response to an accepted request is received on the stream of the session',
  },
  'bridge:old-server': {
    origin: 'design, first use',
    behaviour: 'the bridge warns once on standard error if the server is older',
  },
  'bridge:fuzz': {
    origin: 'MCP 2025-11-25 basic/transports, stdio; JSON-RPC 2.0 section 5.1',
    behaviour: 'no input makes the bridge exit or prevents the response to the next request',
  },
  'bridge:deep': {
    origin: 'JSON-RPC 2.0 section 5.1; design, the bridge: translation',
    behaviour: 'a message of any depth is translated and filtered like every other',
  },
  'bridge:session:restart': {
    origin: 'MCP 2025-11-25 basic/transports, session management',
    behaviour:
      'a lost session is opened again with the first handshake, and the client receives only list_changed',
  },
  'bridge:subscription:restart': {
    origin: 'MCP 2026-07-28 basic/utilities/subscriptions; design, sessions survive a server restart',
    behaviour:
      'a subscription of a stateless client survives a restart, and the client is notified of what may have changed',
  },
  'bridge:session:stream': {
    origin: 'MCP 2025-11-25 basic/transports, resumability',
    behaviour: 'the GET stream is resumed after its last event, after the delay that the server requests',
  },
  'bridge:lines:framing': {
    origin: 'MCP 2025-11-25 basic/transports, stdio',
    behaviour:
      'split characters, several messages per chunk, CRLF, blank lines and a last line without a line feed are read',
  },
  'bridge:lines:stdout': {
    origin: 'MCP 2025-11-25 basic/transports, stdio',
    behaviour: 'standard output contains only protocol messages, one per line',
  },
  'bridge:sse:parse': {
    origin: 'WHATWG HTML server-sent events',
    behaviour:
      'LF, CR and CRLF, BOM, comments, multi-line data, empty data, id and retry are parsed in linear time',
  },
  'bridge:parse-error': {
    origin: 'original MCP integration, stdio wrapper: error handling',
    behaviour: 'a line that is not JSON gets -32700 with id null, and the bridge keeps running',
  },
  'bridge:invalid-request': {
    origin: 'original replay design, error code standards',
    behaviour: 'JSON that is not a message gets -32600',
  },
  'bridge:unreachable': {
    origin: 'original MCP integration, stdio wrapper: error handling',
    behaviour: 'a request to an unreachable server gets an error of class -32603 with a remedy',
  },
  'bridge:localhost': {
    origin: 'RFC 6761 section 6.3',
    behaviour: 'localhost is tried as 127.0.0.1 and as ::1',
  },
  'bridge:line-limit': {
    origin: 'MCP SDK stdio clients, maximal buffer size',
    behaviour: 'a response that is too long for clients is replaced by an error',
  },
  'bridge:http-status': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour:
      'a JSON-RPC error in a failed HTTP response is forwarded, and other failures become an error with the status',
  },
  'bridge:broken-stream': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour: 'a call whose stream breaks before the response gets an error',
  },
  'bridge:end:in-flight': {
    origin: 'MCP 2025-11-25 basic/lifecycle, shutdown',
    behaviour:
      'at the end of input, responses to calls in flight are delivered, then the bridge exits with 0',
  },
  'bridge:end:session': {
    origin: 'MCP 2025-11-25 basic/transports, session management',
    behaviour: 'the session is deleted on the server when the bridge exits',
  },
  'bridge:end:signal': {
    origin: 'MCP 2025-11-25 basic/lifecycle, shutdown',
    behaviour: 'the bridge exits cleanly after SIGTERM, SIGINT, SIGHUP or when standard output is closed',
  },
  'bridge:end:parent': {
    origin: 'design, the bridge exits with its client',
    behaviour: 'the bridge exits when its parent process has exited, even if its input remains open',
  },
  'bridge:end:crash': {
    origin: 'JSON-RPC 2.0 section 5',
    behaviour:
      'after a failure of the bridge itself, every call in flight gets an error before the process exits',
  },
  'bridge:help': {
    origin: 'design, first use',
    behaviour: '--version prints the version of the package, and --help lists every flag and variable',
  },
  'bridge:setting:url': {
    origin: 'original MCP integration, stdio wrapper: environment',
    behaviour: 'MCP_SERVER_URL sets the server, and an invalid URL prints one line',
  },
  'bridge:setting:debug': {
    origin: 'original MCP integration, stdio wrapper: environment',
    behaviour:
      'DEBUG=true logs to mcp_wrapper.log in the folder for temporary files, with time and pid in each line',
  },
  'bridge:setting:flag': {
    origin: 'design, first use',
    behaviour: 'an unknown flag is rejected with the most similar flag',
  },
  'bridge:view:client': {
    origin: 'design, tool budget: the bridge',
    behaviour:
      'a client with a known limit of tools gets the core view, every other client the full one, in both eras',
  },
  'bridge:view:fallback': {
    origin: 'design, tool budget: the bridge',
    behaviour: 'a server without a core view is used as it is',
  },
  'bridge:view:setting': {
    origin: 'design, tool budget: the bridge',
    behaviour: '--view and CAUSEWAY_VIEW choose full, core or a profile for every client',
  },
  'bridge:setting:app': {
    origin: 'design, the wire: one app under its bare names',
    behaviour: '--app connects a client to one app of the server',
  },
  'bridge:socket': {
    origin: 'design, the bridge: connections',
    behaviour: 'the bridge connects to a server on a Unix socket',
  },
  'bridge:credentials': {
    origin: 'design, the bridge: headers and tokens',
    behaviour:
      'headers and tokens of files are sent with every request, are read again when they change, and must be private',
  },
  'bridge:headers:faulty-tool': {
    origin: 'https://modelcontextprotocol.io/specification/2026-07-28/basic/transports, x-mcp-header',
    behaviour: 'a tool with an invalid x-mcp-header is removed from the list, with one warning',
  },
  'bridge:older-server': {
    origin:
      'https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, backwards compatibility',
    behaviour: 'the bridge connects to servers that support only HTTP with SSE (2024-11-05)',
  },
  'bridge:globs': {
    origin: 'design, the bridge: tool filter',
    behaviour: 'tools that --only or --ignore hide are neither listed nor callable',
  },
  'bridge:record': {
    origin: 'design, the bridge: diagnostics',
    behaviour: 'recorded traffic contains both directions with times, without secrets of headers',
  },
  'bridge:replay': {
    origin: 'design, the bridge: diagnostics',
    behaviour: 'recorded traffic answers a client without a server',
  },
  'bridge:stats': {
    origin: 'design, the bridge: diagnostics',
    behaviour: 'SIGUSR2 and --stats print calls, errors, bytes, latency, reconnects and calls in flight',
  },
  'bridge:doctor': {
    origin: 'design, the bridge: diagnostics',
    behaviour:
      '--doctor checks the connection to the server, suggests fixes, and prints how to connect a client',
  },
  'bridge:connection': {
    origin: 'design, the bridge: connections',
    behaviour: 'a proxy and additional certificates are used only if they are configured',
  },
  'bridge:offline-list': {
    origin: 'design, the bridge: starting the server',
    behaviour:
      'the last lists are returned while the server is unreachable, and the client is notified when it is back',
  },
  'bridge:package': {
    origin: 'design, the bridge: one file',
    behaviour: 'the packed bridge has no dependency and runs with npx',
  },
  'bridge:translate:legacy-client': {
    origin: 'MCP 2026-07-28 basic/lifecycle; design, the bridge for foreign servers',
    behaviour: 'a client that sends initialize works with a server that supports only the stateless era',
  },
  'bridge:translate:modern-client': {
    origin: 'MCP 2025-11-25 basic/lifecycle; design, the bridge for foreign servers',
    behaviour: 'a stateless client works with a server that requires initialize',
  },
  'bridge:translate:untouched': {
    origin: 'design, the wire: eras',
    behaviour: 'messages are forwarded unchanged if client and server support the same era',
  },
  'bridge:session-header': {
    origin: 'design, the wire: sessions',
    behaviour: 'every request has the same Causeway-Session, and two bridges have different ones',
  },
  'bridge:backpressure': {
    origin: 'design, budgets',
    behaviour: 'a client that does not read pauses the bridge, whose memory does not grow',
  },
  'bridge:login': {
    origin: 'gateway design, OAuth',
    behaviour:
      'the bridge logs in at a server that requires OAuth; bridges share the tokens and refresh them once',
  },
  'bridge:bundle': {
    origin: 'design, packages',
    behaviour: 'the bundle runs on Node 20.18 without node_modules',
  },
  'bridge:launcher': {
    origin: 'design, first use',
    behaviour:
      'run.mjs of the checkout runs the bundle; without one, it builds it if --autostart is set, or answers initialize with the command to run',
  },
} as const satisfies Requirements
