import type { Requirements } from '../requirement.ts'

/** Limits, audit, access, log files and legacy error formats. */
export const limits = {
  'limits:rate:bucket': {
    origin: 'original plot server, rate limiting strategies',
    behaviour:
      'a bucket permits its burst immediately, then refills continuously; a rejected call takes no tokens',
  },
  'limits:rate:client': {
    origin: 'original plot server, rate limiting strategies',
    behaviour:
      '100 concurrent calls pass, call 101 is RATE_LIMITED with retry_after_ms; other clients and classes are not affected',
  },
  'limits:rate:http': {
    origin: 'original plot server, rate limiting strategies; design, safe by default',
    behaviour:
      'a call over the rate is 429 with Retry-After over plain HTTP, a result with isError over MCP, and a warning in the log',
  },
  'limits:rate:through-apps': {
    origin: 'design, an app',
    behaviour: 'a call that an app, a route or a socket makes for a client counts for this client',
  },
  'limits:rate:settings': {
    origin: 'design, safe by default',
    behaviour:
      'the rates of the design are the default; a given rate replaces the one of its name, and off removes all',
  },
  'limits:deadline': {
    origin: 'original plot server, resource sandboxing',
    behaviour:
      'a call over its deadline is DEADLINE_EXCEEDED and its signal aborts, even if the tool ignores the signal',
  },
  'limits:deadline:client': {
    origin: 'original plot server, resource sandboxing',
    behaviour:
      'a client can shorten the deadline of its call with Causeway-Deadline or _meta, but not extend it',
  },
  'limits:concurrency': {
    origin: 'design, safe by default',
    behaviour:
      'calls of an app over its limit of concurrent calls are OVERLOADED until running calls have ended',
  },
  'limits:shed': {
    origin: 'design, safe by default',
    behaviour: 'requests over the limit of concurrent requests, or during overload, get 503 with Retry-After',
  },
  'limits:memory': {
    origin: 'design, safe by default',
    behaviour:
      'near the memory limit caches are evicted, the cheapest first; each stays within its maximum; /health and /metrics report it',
  },
  'limits:memory:idle': {
    origin: 'design, budgets: resident memory',
    behaviour: 'an idle server collects garbage once after its start and after each period of activity',
  },
  'limits:memory:short': {
    origin: 'design, safe by default',
    behaviour:
      'a server that is short of memory runs one request at a time, rejects others with 503 and Retry-After, and loses no data',
  },
  'limits:worker:isolated': {
    origin: 'design, safe by default',
    behaviour: 'a call that exceeds its time or memory does not end other calls',
  },
  'limits:answer': {
    origin: 'design, safe by default',
    behaviour: 'a tool result over the limit is ANSWER_TOO_LARGE, with its size and a remedy',
  },
  'limits:error': {
    origin: 'design, safe by default',
    behaviour:
      'an error has at most 4,000 characters of message and about 64,000 of data, and stays within the limit of results, on every channel',
  },
  'limits:json': {
    origin: 'design, safe by default',
    behaviour:
      'JSON that takes long to parse is rejected in linear time: more than 500 levels, 1,000,000 values, 500,000 arrays and objects, 200,000 members, 50,000 names or 2 MiB of names',
  },
  'limits:arguments': {
    origin: 'design, safe by default',
    behaviour:
      'invalid arguments are rejected without a complete validation, with at most 20 problems and their number',
  },
  'limits:message': {
    origin: 'design, safe by default',
    behaviour:
      'a message of MCP has at most 65,536 characters in addition to its arguments and subscriptions, a subscription at most 10,000 resources, and an array at most 100 messages',
  },
  'limits:subscriptions': {
    origin: 'design, safe by default',
    behaviour: 'a session has at most 1,000 subscriptions, with 262,144 characters of URIs',
  },
  'limits:visible': {
    origin: 'design, seen from outside',
    behaviour: '/health reports every limit and its use, and /metrics counts running and rejected calls',
  },
  'audit:entry': {
    origin: 'original plot server, audit logging specification',
    behaviour:
      'a tool call from any channel is one entry with time, client, tool, duration and code, without arguments, results or secrets',
  },
  'audit:facts': {
    origin: 'original plot server, audit logging specification',
    behaviour: 'an entry has the subject of its call and the facts that the tool recorded, at most 20 ids',
  },
  'audit:query': {
    origin: 'original plot server, audit logging specification',
    behaviour:
      'entries are found by app, tool, subject, client, code and time, in pages, with a tool and over plain HTTP',
  },
  'audit:filter': {
    origin: 'design, new parts: console',
    behaviour:
      'a filter such as `code:* tool:find` finds the same calls in the audit as in a page; failed ones are read from an index, and a request examines at most 100,000 entries',
  },
  'audit:export': {
    origin: 'original plot server, audit logging specification',
    behaviour: 'the audit is exported as JSON lines in the form of the original specification',
  },
  'audit:retention': {
    origin: 'design, safe by default',
    behaviour: 'entries over the maximum age or number are deleted',
  },
  'audit:stop': {
    origin: 'design, safe by default',
    behaviour: 'a shutdown writes every entry; while writing fails, entries are buffered up to a maximum',
  },
  'access:every-route': {
    origin: 'design, safe by default',
    behaviour:
      'every route and channel rejects a foreign Host, a foreign Origin, a missing or wrong token, and a token without the scope',
  },
  'access:file': {
    origin: 'design, safe by default',
    behaviour:
      'a token file that other users can read, or that is malformed, is rejected with a remedy, without the token',
  },
  'access:rotation': {
    origin: 'design, safe by default',
    behaviour: 'a changed token file takes effect without a restart; an invalid file rejects every token',
  },
  'access:scope': {
    origin: 'design, safe by default',
    behaviour:
      'a token permits its scopes (read, write, execute) by app; the hints of a tool determine its scope',
  },
  'access:session-owner': {
    origin: 'threat model, ids that leak between clients',
    behaviour: 'a session or event stream is unknown to another token, also after a restart and a rotation',
  },
  'access:task-owner': {
    origin: 'threat model, ids that leak between clients',
    behaviour: 'a task is unknown to another token, also after a restart',
  },
  'access:state': {
    origin: 'design, the wire: sessions',
    behaviour: 'clients with different tokens share no state, even in the same session',
  },
  'access:bind': {
    origin: 'design, safe by default',
    behaviour: 'an address other than loopback requires a token file',
  },
  'log:format': {
    origin: 'seen by a new user',
    behaviour:
      'on a terminal, or if set, the log has one readable line per entry, and the start ends with the address, the apps and the next commands',
  },
  'log:files': {
    origin: 'original plot server, log storage',
    behaviour:
      'if enabled, log, errors and audit are written to five rotated files of 5 MB each, which only their user can read',
  },
  'log:trace': {
    origin: 'design, seen from outside; W3C trace context',
    behaviour: 'the trace id of a call, from its header or message, is in its log lines and its audit entry',
    over: ['http', 'bridge'],
  },
  'log:secrets': {
    origin: 'design, seen from outside',
    behaviour:
      'no secret token, key, header or argument appears in any log, file, audit entry, health report, metric, list or error',
  },
  'wire:legacy-errors': {
    origin: 'original plot server, error handling patterns',
    behaviour:
      'if enabled, a failed plain call to the port of an app gets the JSON-RPC error of the original design',
  },
  'wire:route:stream': {
    origin: 'design, the wire: eras',
    behaviour: 'a shutdown ends event streams of apps without waiting for them',
  },
} as const satisfies Requirements
