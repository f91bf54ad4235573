import type { Requirements } from '../requirement.ts'

/** What holds for the product as a whole, under abuse and over time. */
export const proof = {
  'proof:fuzz': {
    origin: 'design, safe by default; original plot server, security considerations',
    behaviour:
      'no input over any channel crashes or hangs the server, or gets an answer without a declared code, or with a stack, a path or a secret',
  },
  'proof:secrets': {
    origin: 'design, seen from outside; original plot server, security considerations',
    behaviour:
      'no token, key, field for a provider or variable of the environment is in any answer, page, log, audit, data file, backup or record of the bridge',
  },
} as const satisfies Requirements
