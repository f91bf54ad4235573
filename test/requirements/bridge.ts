import type { Requirements } from '../requirement.ts'

/** The bridge between a stdio client and the server. */
export const bridge = {
  'bridge:relay:eras': {
    origin: 'design, the wire: eras',
    behaviour: 'messages of both eras pass through unchanged, the era decided per message',
  },
  'bridge:relay:ids': {
    origin: 'original MCP integration, stdio wrapper; JSON-RPC 2.0 section 4',
    behaviour: 'ids keep their JSON type: string, zero, negative, fraction and large number',
  },
  'bridge:relay:concurrent': {
    origin: 'JSON-RPC 2.0 section 6',
    behaviour: 'concurrent calls are answered as they finish, a slow one holds up no other',
  },
  'bridge:relay:batch': {
    origin: 'MCP 2025-03-26 basic/transports',
    behaviour:
      'every request of a batch is answered once, and a batch is sent again only where all of it may be',
  },
  'bridge:relay:notification': {
    origin: 'JSON-RPC 2.0 section 4.1',
    behaviour: 'a notification is forwarded and never answered',
  },
  'bridge:relay:one-way': {
    origin: 'MCP 2025-11-25 basic/lifecycle and basic/transports',
    behaviour: 'initialized, and an answer to the server, survive a busy server and a broken connection',
  },
  'bridge:relay:pipelined': {
    origin: 'MCP 2025-11-25 basic/lifecycle',
    behaviour: 'messages sent right behind initialize wait for its answer and use its session',
  },
  'bridge:relay:server-notification': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour: 'list_changed and resource updates of the server reach the client',
  },
  'bridge:relay:protocol-version': {
    origin: 'MCP 2025-11-25 basic/transports, protocol version header',
    behaviour:
      'requests after initialize carry the negotiated version, modern ones their method and name headers',
  },
  'bridge:relay:bytes': {
    origin: 'design, one message travels one way',
    behaviour: 'an answer reaches the client with the bytes of the server, large ones included',
  },
  'bridge:relay:stream': {
    origin: 'MCP 2025-11-25 basic/transports, streamable HTTP',
    behaviour: 'progress and requests of the server come before the answer, the client answers them',
  },
  'bridge:relay:cancel': {
    origin: 'MCP 2025-11-25 and 2026-07-28 basic/utilities/cancellation',
    behaviour: 'a cancelled call is stopped in the way of its era, and its client hears no more of it',
  },
  'bridge:relay:limit': {
    origin: 'design, budgets',
    behaviour: 'at most 256 calls are with the server, later ones wait and the client is held',
  },
  'bridge:relay:repeat': {
    origin: 'RFC 9110 section 9.2.2; design, safe repeats',
    behaviour: 'a call on a stale connection is repeated once, unless it may have had an effect',
  },
  'bridge:wait:start': {
    origin: 'design, one message travels one way',
    behaviour: 'while there is no server, initialize and server/discover are held until it answers',
  },
  'bridge:wait:budget': {
    origin: 'original MCP integration, stdio wrapper: error handling',
    behaviour: 'a server that does not come in time is an error with URL, cause, time waited and remedy',
  },
  'bridge:wait:session': {
    origin: 'design, a client session outlives the server',
    behaviour: 'calls that could not be written wait for a server that comes back',
  },
  'bridge:wait:repeat': {
    origin: 'design, safe repeats; MCP 2025-11-25 server/tools, annotations',
    behaviour: 'a tool call that may have arrived is repeated only where that has no second effect',
  },
  'bridge:wait:busy': {
    origin: 'RFC 9110 sections 10.2.3 and 15.6.4',
    behaviour: 'a safe call is repeated while the server is busy, at the pace it asks for up to 5 s',
  },
  'bridge:autostart': {
    origin: 'design, settings: a bridge that starts the server',
    behaviour: 'a bridge may start the server: one of many does, and its failure is told',
  },
  'bridge:relay:param-headers': {
    origin: 'MCP 2026-07-28 basic/transports, custom headers from tool parameters',
    behaviour: 'a stateless tool call mirrors the arguments that its schema annotates in headers',
  },
  'bridge:stream:resume': {
    origin: 'MCP 2025-11-25 basic/transports, resumability',
    behaviour: 'an answer whose stream ended or broke is taken up after its last event',
  },
  'bridge:stream:promised': {
    origin: 'MCP 2025-11-25 basic/transports, sending messages',
    behaviour: 'an answer that the server only accepted is waited for on the stream of the session',
  },
  'bridge:old-server': {
    origin: 'design, seen by a new user',
    behaviour: 'an older server that still runs is told once on standard error',
  },
  'bridge:fuzz': {
    origin: 'MCP 2025-11-25 basic/transports, stdio; JSON-RPC 2.0 section 5.1',
    behaviour: 'no input of any kind ends the bridge or costs the next request its answer',
  },
  'bridge:deep': {
    origin: 'JSON-RPC 2.0 section 5.1; design, the bridge: translation',
    behaviour: 'a message nested too deeply to be written anew costs nobody but its own request the answer',
  },
  'bridge:session:restart': {
    origin: 'MCP 2025-11-25 basic/transports, session management',
    behaviour:
      'a lost session is opened again with the kept handshake, unseen by the client but for list_changed',
  },
  'bridge:subscription:restart': {
    origin: 'MCP 2026-07-28 basic/utilities/subscriptions; design, a client session outlives the server',
    behaviour:
      'a subscription of a stateless client goes on over a restart, and what may have changed is told',
  },
  'bridge:session:stream': {
    origin: 'MCP 2025-11-25 basic/transports, resumability',
    behaviour: 'the GET stream is taken up again after its last event, at the pace the server asks for',
  },
  'bridge:lines:framing': {
    origin: 'MCP 2025-11-25 basic/transports, stdio',
    behaviour:
      'split characters, several messages per chunk, CRLF, blank lines and a last line without newline are read',
  },
  'bridge:lines:stdout': {
    origin: 'MCP 2025-11-25 basic/transports, stdio',
    behaviour: 'stdout carries protocol messages only, one per line',
  },
  'bridge:sse:parse': {
    origin: 'WHATWG HTML server-sent events',
    behaviour:
      'LF, CR and CRLF, BOM, comments, multi-line data, empty data, id and retry are read in linear time',
  },
  'bridge:parse-error': {
    origin: 'original MCP integration, stdio wrapper: error handling',
    behaviour: 'a line that is not JSON is answered -32700 with id null, and the bridge goes on',
  },
  'bridge:invalid-request': {
    origin: 'original replay design, error code standards',
    behaviour: 'a JSON line that is no message is answered -32600',
  },
  'bridge:unreachable': {
    origin: 'original MCP integration, stdio wrapper: error handling',
    behaviour:
      'an unreachable server is answered with a -32603 class error and a remedy, under the id of the request',
  },
  'bridge:localhost': {
    origin: 'RFC 6761 section 6.3',
    behaviour: 'localhost is tried as 127.0.0.1 and as ::1',
  },
  'bridge:line-limit': {
    origin: 'MCP SDK stdio clients, maximal buffer size',
    behaviour: 'an answer longer than clients read is replaced by an error that says so',
  },
  'bridge:http-status': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour:
      'a JSON-RPC error in a failed HTTP answer is passed on, any other failure becomes an error with its status',
  },
  'bridge:broken-stream': {
    origin: 'MCP 2025-11-25 basic/transports',
    behaviour: 'a stream that breaks before the answer ends the call with an error, never with silence',
  },
  'bridge:end:in-flight': {
    origin: 'MCP 2025-11-25 basic/lifecycle, shutdown',
    behaviour: 'answers in flight at end of input are delivered, then the bridge exits 0',
  },
  'bridge:end:session': {
    origin: 'MCP 2025-11-25 basic/transports, session management',
    behaviour: 'the session is deleted on the server when the bridge ends',
  },
  'bridge:end:signal': {
    origin: 'MCP 2025-11-25 basic/lifecycle, shutdown',
    behaviour: 'SIGTERM, SIGINT and SIGHUP end the bridge cleanly, a closed stdout ends it too',
  },
  'bridge:end:parent': {
    origin: 'design, a bridge never outlives its client',
    behaviour: 'the bridge ends when its parent has died, though its input stays open',
  },
  'bridge:end:crash': {
    origin: 'JSON-RPC 2.0 section 5',
    behaviour: 'a failure of the bridge itself answers every open call before the process ends',
  },
  'bridge:help': {
    origin: 'design, seen by a new user',
    behaviour: '--version is that of the package, --help names every option and variable',
  },
  'bridge:setting:url': {
    origin: 'original MCP integration, stdio wrapper: environment',
    behaviour: 'MCP_SERVER_URL chooses the server, and a bad URL is one clear sentence',
  },
  'bridge:setting:debug': {
    origin: 'original MCP integration, stdio wrapper: environment',
    behaviour:
      'DEBUG=true logs to mcp_wrapper.log in the temp folder, opened safely, with time and pid in each line',
  },
  'bridge:setting:flag': {
    origin: 'design, seen by a new user',
    behaviour: 'an unknown flag is refused with the flag that was probably meant',
  },
  'bridge:setting:app': {
    origin: 'design, the wire: one app under its bare names',
    behaviour: '--app connects a client to one app of the server',
  },
  'bridge:socket': {
    origin: 'design, the bridge: further ways to a server',
    behaviour: 'a server that listens on a Unix socket is reached by its path',
  },
  'bridge:credentials': {
    origin: 'design, the bridge: headers and tokens',
    behaviour:
      'header and token files go with every request, are read again when they change, and must be private',
  },
  'bridge:headers:faulty-tool': {
    origin: 'https://modelcontextprotocol.io/specification/2026-07-28/basic/transports, x-mcp-header',
    behaviour:
      'a tool whose x-mcp-header cannot be obeyed is left out of the list, and the person is told once',
  },
  'bridge:older-server': {
    origin:
      'https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, backwards compatibility',
    behaviour: 'a server that speaks only HTTP with an event stream, of 2024-11-05, is spoken to in its way',
  },
  'bridge:globs': {
    origin: 'design, the bridge: choose what a client sees',
    behaviour: 'tools that the globs leave out are neither listed nor callable',
  },
  'bridge:record': {
    origin: 'design, the bridge: finding faults',
    behaviour: 'recorded traffic shows both sides with times, and no secret of a header',
  },
  'bridge:replay': {
    origin: 'design, the bridge: finding faults',
    behaviour: 'recorded traffic answers a client again, without a server',
  },
  'bridge:stats': {
    origin: 'design, the bridge: finding faults',
    behaviour: 'SIGUSR2 and --stats tell calls, errors, bytes, latency, reconnects and what is in flight',
  },
  'bridge:doctor': {
    origin: 'design, the bridge: finding faults',
    behaviour: '--doctor tests the way to the server, says what to do, and prints how to connect a client',
  },
  'bridge:connection': {
    origin: 'design, the bridge: further ways to a server',
    behaviour: 'a proxy and a certificate of its own are used when asked for, and only then',
  },
  'bridge:offline-list': {
    origin: 'design, the bridge: a server that boots',
    behaviour:
      'the lists of the last time answer while the server is away, and the client is told when it is back',
  },
  'bridge:package': {
    origin: 'design, the bridge: one file',
    behaviour: 'the packed bridge has no dependency and runs by npx',
  },
  'bridge:translate:legacy-client': {
    origin: 'MCP 2026-07-28 basic/lifecycle; design, the bridge for foreign servers',
    behaviour: 'a client that opens with initialize works with a server that knows the stateless era alone',
  },
  'bridge:translate:modern-client': {
    origin: 'MCP 2025-11-25 basic/lifecycle; design, the bridge for foreign servers',
    behaviour: 'a client of the stateless era works with a server that wants initialize',
  },
  'bridge:translate:untouched': {
    origin: 'design, the wire: eras',
    behaviour: 'where client and server speak the same era, every message passes as it is',
  },
  'bridge:session-header': {
    origin: 'design, the wire: sessions',
    behaviour: 'one constant Causeway-Session goes with every request, and two bridges have two',
  },
  'bridge:backpressure': {
    origin: 'design, budgets',
    behaviour: 'a client that does not read pauses the bridge instead of growing it',
  },
  'bridge:bundle': {
    origin: 'design, the tree',
    behaviour: 'the bundle is one file that runs on Node 20.18 without node_modules',
  },
  'bridge:launcher': {
    origin: 'design, seen by a new user',
    behaviour:
      'the committed launcher starts the built bundle, and without one answers initialize with what to run',
  },
} as const satisfies Requirements
