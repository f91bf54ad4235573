import type { Requirements } from '../requirement.ts'

/** ToolVault: analysis tools of plots. */
export const toolvault = {} as const satisfies Requirements
