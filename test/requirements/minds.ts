import type { Requirements } from '../requirement.ts'

/** Minds: characters that perceive, decide, remember. */
export const minds = {} as const satisfies Requirements
