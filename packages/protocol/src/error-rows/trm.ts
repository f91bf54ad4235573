import type { ErrorRow } from './row.ts'

/** Refinement of code. */
export const trmRows = {} satisfies Record<string, ErrorRow>
