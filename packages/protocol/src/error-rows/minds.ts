import type { ErrorRow } from './row.ts'

/** Minds of characters. */
export const mindsRows = {} satisfies Record<string, ErrorRow>
