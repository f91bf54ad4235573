import { type CallFilter, matchesCall } from '@causeway/protocol/call-filter'
import type { CallRecord } from '../data/types.ts'

/** Whether a call matches a filter by the server's rules. */
export const matchesFilter = (
  filter: CallFilter,
  { toolName, duration, error, metadata }: CallRecord,
): boolean =>
  matchesCall(filter, {
    app: metadata.app,
    tool: toolName,
    code: error?.code ?? 'ok',
    client: metadata.client,
    client_version: metadata.client_version,
    session: metadata.session,
    subject: metadata.subject ?? null,
    ms: duration,
  })
