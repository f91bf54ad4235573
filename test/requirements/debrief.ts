import type { Requirements } from '../requirement.ts'

/** Debrief: maritime plots. */
export const debrief = {} as const satisfies Requirements
