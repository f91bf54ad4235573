import type { Requirements } from '../requirement.ts'

/** Declaring and hosting apps: one declaration per tool, sessions, registry. */
export const app = {
  'app:declare:one-source': {
    origin: 'design, an app',
    behaviour: 'one declaration of a tool yields its JSON Schema, validation, listing and example',
  },
  'app:declare:refused': {
    origin: 'design, an app: schemas',
    behaviour: 'a non-object output, a transform or an over-long name is refused when the tool is declared',
  },
  'app:schema:self-contained': {
    origin: 'design, an app: schemas; JSON Schema 2020-12',
    behaviour: 'listed schemas have no $schema, no safe-integer bounds, and no pattern beside a format',
  },
  'app:schema:output-open': {
    origin: 'design, an app: schemas',
    behaviour: 'output schemas allow added fields, input schemas refuse unknown ones',
  },
  'app:validate:missing': {
    origin: 'design, an app',
    behaviour: 'a missing or wrongly typed argument is answered with what is missing and what is expected',
    over: ['direct', 'http', 'bridge'],
  },
  'app:validate:did-you-mean': {
    origin: 'design, an app',
    behaviour: 'an unknown argument is named together with the nearest known one',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:structured': {
    origin: 'design, the wire: answers; MCP 2025-06-18 server/tools',
    behaviour: 'an answer carries structuredContent and the same JSON as its first text',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:non-finite': {
    origin: 'design, an app: schemas',
    behaviour: 'a non-finite number in an answer is null, never invalid JSON',
  },
  'app:answer:error-object': {
    origin: 'design, the wire: answers',
    behaviour:
      'a failed tool answers isError with CODE, remedy and the error object in _meta, nothing in structuredContent',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:error-text': {
    origin: 'design, the wire: answers; clients show a model the text alone',
    behaviour: 'the data that a remedy tells to use stands in the text of the failed answer',
    over: ['direct', 'http', 'bridge'],
  },
  'app:answer:error-body': {
    origin: 'original agent minds, error handling; design, the wire: answers',
    behaviour:
      'an error body of an app replaces the text, is structuredContent where the output schema allows it, and leaves the error object in _meta',
  },
  'app:answer:no-internals': {
    origin: 'design, the wire: answers',
    behaviour: 'an unexpected failure is INTERNAL: logged with its stack, answered without it',
  },
  'app:size:listing': {
    origin: 'design, the wire: names',
    behaviour: 'a tool lists in at most 2 kB and an app in at most 25 kB',
  },
  'app:example:runs': {
    origin: 'design, an app',
    behaviour: 'the example of every tool is a valid call that succeeds',
  },
  'app:session:one-object': {
    origin: 'design, the wire: sessions',
    behaviour: 'calls under one session key see one object, saved after a call that changed it',
  },
  'app:session:restart': {
    origin: 'design, the wire: sessions',
    behaviour: 'session state survives a restart of the server',
  },
  'app:session:expiry': {
    origin: 'design, the wire: sessions',
    behaviour: 'a session ends after 24 idle hours',
  },
  'app:registry:cached': {
    origin: 'original MCP integration, caching strategy',
    behaviour: 'the tool list is cached for five minutes and rediscovered after that',
  },
  'app:registry:refresh': {
    origin: 'original MCP integration, cache invalidation',
    behaviour: 'a change, the refresh tool, the refresh route and SIGHUP each renew the list at once',
  },
  'app:registry:last-good': {
    origin: 'design, the wire: registry',
    behaviour:
      'a discovery that fails or takes over a second leaves the last good list, and calls never wait for it',
  },
  'app:registry:disabled': {
    origin: 'original MCP integration, common issues',
    behaviour: 'a disabled app is neither listed nor callable, and only declared tools are callable',
  },
  'app:registry:scheme-owner': {
    origin: 'design, the wire: resources',
    behaviour: 'a second app that claims a URI scheme is refused',
  },
  'app:user:by-path': {
    origin: 'design, an app',
    behaviour:
      'a user app given by path in the settings is listed and callable, with the app-kit and zod of the server',
  },
  'app:user:broken': {
    origin: 'design, an app',
    behaviour: 'a user app that cannot be loaded is reported and does not stop the server',
  },
  'app:argument:other-names': {
    origin: 'original refinement design, parameter translation',
    behaviour:
      'an argument is taken under each of its other names, members of objects too; under two at once it is refused',
  },
} as const satisfies Requirements
