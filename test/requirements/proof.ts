import type { Requirements } from '../requirement.ts'

/** What holds for the product as a whole, under abuse and over time. */
export const proof = {
  'proof:fuzz': {
    origin: 'design, safe by default; original plot server, security considerations',
    behaviour:
      'no input over any channel crashes or hangs the server, or gets an answer without a declared code, or with a stack, a path or a secret',
  },
  'proof:complexity': {
    origin: 'design, safe by default',
    behaviour:
      'the cost of a request grows no faster than its size, and a request up to the limit of a body does not keep other clients waiting for long',
  },
  'proof:secrets': {
    origin: 'design, seen from outside; original plot server, security considerations',
    behaviour:
      'no token, key, field for a provider or variable of the environment is in any answer, page, log, audit, data file, backup or record of the bridge',
  },
} as const satisfies Requirements
