import type { Requirements } from '../requirement.ts'

/** Limits, audit, log files and the older command channels. */
export const limits = {} as const satisfies Requirements
