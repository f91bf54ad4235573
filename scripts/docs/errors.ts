import type { ErrorRow } from '@causeway/protocol'
import { codeSpan, table } from './table.ts'

/** The table of every error code, in the order of the code. */
export function errorTable(codes: Readonly<Record<string, ErrorRow>>): string {
  return table(
    ['code', 'JSON-RPC', 'HTTP', 'legacy', 'retry', 'what is wrong', 'what to do'],
    Object.entries(codes).map(([code, { rpc, http, legacy, retryable, about, remedy }]) => [
      codeSpan(code),
      String(rpc),
      String(http),
      legacy === undefined ? '' : String(legacy),
      retryable ? 'yes' : '',
      about,
      remedy,
    ]),
  )
}
