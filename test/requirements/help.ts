import type { Requirements } from '../requirement.ts'

/** Help: documentation search. */
export const help = {} as const satisfies Requirements
