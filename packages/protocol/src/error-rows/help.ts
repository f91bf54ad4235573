import type { ErrorRow } from './row.ts'

/** Documentation search. */
export const helpRows = {} satisfies Record<string, ErrorRow>
