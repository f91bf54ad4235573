import type { ErrorRow } from './row.ts'

/** Maritime plots. */
export const debriefRows = {} satisfies Record<string, ErrorRow>
