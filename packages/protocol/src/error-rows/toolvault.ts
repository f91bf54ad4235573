import type { ErrorRow } from './row.ts'

/** Analysis tools of plots. */
export const toolvaultRows = {} satisfies Record<string, ErrorRow>
