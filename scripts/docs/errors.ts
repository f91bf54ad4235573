import type { ErrorRow } from '@causeway/protocol'
import { codeSpan, table } from './table.ts'

/** Returns the table of all error codes, in the order of their declaration. */
export function errorTable(codes: Readonly<Record<string, ErrorRow>>): string {
  return table(
    ['code', 'JSON-RPC', 'HTTP', 'legacy', 'retry', 'meaning', 'remedy'],
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
