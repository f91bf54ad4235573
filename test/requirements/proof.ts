import type { Requirements } from '../requirement.ts'

/** What holds for the product as a whole, under abuse and over time. */
export const proof = {
  'proof:fuzz': {
    origin: 'design, safe by default; original plot server, security considerations',
    behaviour:
      'no input over any channel crashes or hangs the server, or gets an answer without a declared code, or with a stack, a path or a secret',
  },
} as const satisfies Requirements
