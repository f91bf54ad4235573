import type { Requirements } from '../requirement.ts'

/** Limits, audit, log files and the older command channels. */
export const limits = {
  'limits:rate:bucket': {
    origin: 'original plot server, rate limiting strategies',
    behaviour: 'a bucket gives its burst at once, then refills by fractions; a refused call takes nothing',
  },
  'limits:rate:client': {
    origin: 'original plot server, rate limiting strategies',
    behaviour:
      '100 calls at once pass, call 101 is RATE_LIMITED with retry_after_ms; another client and another class are not affected',
  },
  'limits:rate:http': {
    origin: 'original plot server, rate limiting strategies; design, safe by default',
    behaviour:
      'a call over the rate is 429 with Retry-After over plain HTTP, an answer with isError over MCP, and a warning in the log',
  },
  'limits:rate:through-apps': {
    origin: 'design, an app',
    behaviour: 'a call that an app, a route or a socket makes for a client counts for this client',
  },
  'limits:rate:settings': {
    origin: 'design, safe by default',
    behaviour:
      'the rates of the design hold by default; a given one replaces that of its name, and off lifts all',
  },
  'limits:deadline': {
    origin: 'original plot server, resource sandboxing',
    behaviour:
      'a call over its deadline is answered DEADLINE_EXCEEDED and its signal aborts, also where the tool does not listen',
  },
  'limits:deadline:client': {
    origin: 'original plot server, resource sandboxing',
    behaviour:
      'a client shortens the deadline of its call by Causeway-Deadline or by _meta, and never lengthens it',
  },
  'limits:concurrency': {
    origin: 'design, safe by default',
    behaviour:
      'more calls of one app at once than may run are OVERLOADED; the place is free when the work has ended',
  },
  'limits:shed': {
    origin: 'design, safe by default',
    behaviour:
      'more requests at once than may be answered, or a process that cannot follow, get 503 with Retry-After',
  },
  'limits:memory': {
    origin: 'design, safe by default',
    behaviour:
      'near the limit of memory caches give back, the cheapest first; each is kept within its cap; /health and /metrics tell it',
  },
  'limits:memory:short': {
    origin: 'design, safe by default',
    behaviour:
      'a server with less memory than it needs goes on one request at a time, refuses the others with 503 and Retry-After, and loses nothing',
  },
  'limits:worker:isolated': {
    origin: 'design, safe by default',
    behaviour: 'a call that is ended for its time or memory ends no other call',
  },
  'limits:answer': {
    origin: 'design, safe by default',
    behaviour:
      'an answer of a tool that is longer than the limit is ANSWER_TOO_LARGE, with its size and what to do',
  },
  'limits:error': {
    origin: 'design, safe by default',
    behaviour:
      'an error has at most 4,000 characters of message and about 64,000 of data, and no more than the limit of an answer, on every channel',
  },
  'limits:json': {
    origin: 'design, safe by default',
    behaviour:
      'JSON that takes long to parse is rejected in linear time: more than 500 levels, 2,000,000 values, 1,000,000 arrays and objects, 500,000 members or 50,000 names',
  },
  'limits:arguments': {
    origin: 'design, safe by default',
    behaviour:
      'arguments that do not fit are rejected without validating all of them, with at most 20 problems and their number',
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
    behaviour:
      '/health tells every limit and what is used of it, /metrics counts what runs and what was refused',
  },
  'audit:entry': {
    origin: 'original plot server, audit logging specification',
    behaviour:
      'a tool call from any channel is one entry with time, client, tool, duration and code, and with no argument, answer or secret',
  },
  'audit:facts': {
    origin: 'original plot server, audit logging specification',
    behaviour:
      'an entry names what its call was about, and holds the facts that the tool noted, at most 20 ids',
  },
  'audit:query': {
    origin: 'original plot server, audit logging specification',
    behaviour:
      'entries are found by app, tool, subject, client, code and time, page by page, by a tool and by plain HTTP',
  },
  'audit:export': {
    origin: 'original plot server, audit logging specification',
    behaviour: 'the audit is exported as JSON lines in the form of the original specification',
  },
  'audit:retention': {
    origin: 'design, safe by default',
    behaviour: 'entries beyond the number of days or of rows are removed',
  },
  'audit:stop': {
    origin: 'design, safe by default',
    behaviour:
      'an orderly stop writes every entry; a disk that takes none loses none that fit into the memory for them',
  },
  'access:every-route': {
    origin: 'design, safe by default',
    behaviour:
      'every route and channel refuses a foreign Host, a foreign Origin, a missing and a wrong token, and a token of the wrong scope',
  },
  'access:file': {
    origin: 'design, safe by default',
    behaviour:
      'a token file that others may read, or that is malformed, is refused with what to do, without the token',
  },
  'access:rotation': {
    origin: 'design, safe by default',
    behaviour:
      'a changed token file counts without a restart: the new token at once, the old one no longer; one that cannot be used lets nobody in',
  },
  'access:scope': {
    origin: 'design, safe by default',
    behaviour:
      'a token does what its scopes give: read, write or execute, by app, as the hints of the tools say',
  },
  'access:session-owner': {
    origin: 'threat model, ids that leak between clients',
    behaviour:
      'a session or event stream answers another token as if its id were unknown, also after a restart and a rotation',
  },
  'access:task-owner': {
    origin: 'threat model, ids that leak between clients',
    behaviour: 'a task is unknown to another token, also after a restart',
  },
  'access:state': {
    origin: 'design, the wire: sessions',
    behaviour: 'clients of two tokens share no state, whatever session they name',
  },
  'access:bind': {
    origin: 'design, safe by default',
    behaviour: 'an address beyond this machine is refused without a token file, and taken with one',
  },
  'log:files': {
    origin: 'original plot server, log storage',
    behaviour:
      'log, errors and audit go into rolling files of 5 MB, five of each, readable by their user alone, where the setting wants it',
  },
  'log:trace': {
    origin: 'design, seen from outside; W3C trace context',
    behaviour:
      'the trace of a call, of its header or its message, is in the lines of its log and its entry of the audit',
    over: ['http', 'bridge'],
  },
  'log:secrets': {
    origin: 'design, seen from outside',
    behaviour:
      'no token, key, header or argument that is a secret shows in any log, file, audit, health, metrics, list or error',
  },
  'wire:legacy-errors': {
    origin: 'original plot server, error handling patterns',
    behaviour:
      'where the setting wants it, a plain call to the port of an app that fails gets the JSON-RPC error of the original design',
  },
  'wire:route:stream': {
    origin: 'design, the wire: eras',
    behaviour: 'an event stream of an app is ended by stopping and not waited for',
  },
} as const satisfies Requirements
