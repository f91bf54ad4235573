import type { Requirements } from '../requirement.ts'

/** Properties of the whole product, under abuse and over time. */
export const proof = {
  'proof:fuzz': {
    origin: 'design, safe by default; original plot server, security considerations',
    behaviour:
      'no input on any channel crashes or hangs the server, every error has a declared code, and no response contains a stack, a path or a secret',
  },
  'proof:complexity': {
    origin: 'design, safe by default',
    behaviour:
      'the cost of a request grows at most linearly with its size, and no request within the body limit delays other clients for long',
  },
  'proof:secrets': {
    origin: 'design, seen from outside; original plot server, security considerations',
    behaviour:
      'no token, key, provider header or environment variable appears in a response, page, log, audit, data file, backup or record of the bridge',
  },
} as const satisfies Requirements
