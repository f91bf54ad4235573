import type { Requirements } from '../requirement.ts'

/** Trm: refinement of code. */
export const trm = {} as const satisfies Requirements
