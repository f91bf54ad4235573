import type { Requirements } from '../requirement.ts'

/** Declaring and hosting apps: one declaration per tool, sessions, registry. */
export const app = {
  'app:declare:one-source': {
    origin: 'design, an app',
    behaviour: 'one declaration of a tool yields its JSON Schema, validation, listing and example',
  },
  'app:declare:refused': {
    origin: 'design, an app: schemas',
    behaviour: 'a non-object output, a transform or an over-long name is rejected when the tool is declared',
  },
  'app:schema:self-contained': {
    origin: 'design, an app: schemas; JSON Schema 2020-12',
    behaviour:
      'listed schemas have no $schema, no safe-integer bounds, and no pattern in addition to a format',
  },
  'app:schema:output-open': {
    origin: 'design, an app: schemas',
    behaviour: 'output schemas allow additional fields, input schemas reject unknown ones',
  },
  'app:validate:missing': {
    origin: 'design, an app',
    behaviour: 'a missing argument or one of the wrong type fails with its name and the expected type',
    over: ['direct', 'http', 'bridge'],
  },
  'app:validate:did-you-mean': {
    origin: 'design, an app',
    behaviour: 'an unknown argument is reported together with the nearest known one',
    over: ['direct', 'http', 'bridge'],
  },
  'app:errors:owner': {
    origin: 'design, errors',
    behaviour: 'an error code has one owner; an app that declares a code of another one is rejected',
  },
  'app:errors:user-app': {
    origin: 'design, errors',
    behaviour: 'errors that a user app declares have their status, number and remedy on every channel',
  },
  'app:answer:structured': {
    origin: 'design, the wire: answers; MCP 2025-06-18 server/tools',
    behaviour: 'a result has structuredContent and the same JSON as its first text',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:non-finite': {
    origin: 'design, an app: schemas',
    behaviour: 'a non-finite number in a result is null, never invalid JSON',
  },
  'app:answer:error-object': {
    origin: 'design, the wire: answers',
    behaviour:
      'a failed tool returns isError with CODE, remedy and the error object in _meta, and no structuredContent',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:error-text': {
    origin: 'design, the wire: answers; clients show a model only the text',
    behaviour: 'the text of a failed result contains the data that its remedy refers to',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:error-body': {
    origin: 'original agent minds, error handling; design, the wire: answers',
    behaviour:
      'an error body of an app replaces the text, is structuredContent if the output schema allows it, and leaves the error object in _meta',
  },
  'app:answer:no-internals': {
    origin: 'design, the wire: answers',
    behaviour: 'an unexpected failure is INTERNAL: logged with its stack, returned without it',
  },
  'app:size:listing': {
    origin: 'design, the wire: names',
    behaviour: 'a tool in tools/list has at most 2 kB and the tools of an app have at most 25 kB',
  },
  'app:example:runs': {
    origin: 'design, an app',
    behaviour: 'the example of every tool is a valid call that succeeds',
  },
  'app:session:one-object': {
    origin: 'design, the wire: sessions',
    behaviour: 'calls with the same session key share one object, saved after a call that changed it',
  },
  'app:session:restart': {
    origin: 'design, the wire: sessions',
    behaviour: 'session state survives a restart of the server',
  },
  'app:session:expiry': {
    origin: 'design, the wire: sessions',
    behaviour: 'a session expires after 24 idle hours',
  },
  'app:registry:cached': {
    origin: 'original MCP integration, caching strategy',
    behaviour: 'the tool list is cached for five minutes and discovered again after that',
  },
  'app:registry:refresh': {
    origin: 'original MCP integration, cache invalidation',
    behaviour: 'a change, the refresh tool, the refresh route and SIGHUP each refresh the list immediately',
  },
  'app:registry:last-good': {
    origin: 'design, the wire: registry',
    behaviour:
      'a discovery that fails or takes longer than a second keeps the last good list, and calls never wait for it',
  },
  'app:registry:disabled': {
    origin: 'original MCP integration, common issues',
    behaviour: 'a disabled app is neither listed nor callable, and only declared tools are callable',
  },
  'app:registry:scheme-owner': {
    origin: 'design, the wire: resources',
    behaviour: 'a second app that declares the same URI scheme is rejected',
  },
  'app:user:by-path': {
    origin: 'design, an app',
    behaviour:
      'a user app whose path is in the settings is listed and callable, with the app-kit and zod of the server',
  },
  'app:user:broken': {
    origin: 'design, an app',
    behaviour: 'a user app that cannot be loaded is reported and does not stop the server',
  },
  'app:argument:other-names': {
    origin: 'original refinement design, parameter translation',
    behaviour:
      'an argument is accepted under each of its aliases, also in nested objects, and rejected under two at the same time',
  },
} as const satisfies Requirements
