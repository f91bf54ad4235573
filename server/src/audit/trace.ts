export interface Trace {
  readonly traceId: string
  /** 16 hex digits. */
  readonly parentId: string
}

export const formatTrace = ({ traceId, parentId }: Trace): string => `00-${traceId}-${parentId}-01`

const pattern = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/

/** Returns `undefined` for a malformed `traceparent`, as the standard requires. */
export function parseTrace(traceparent: unknown): Trace | undefined {
  if (typeof traceparent !== 'string' || traceparent.startsWith('ff')) return undefined
  const [, traceId, parentId] = pattern.exec(traceparent) ?? []
  return traceId === undefined || parentId === undefined ? undefined : { traceId, parentId }
}
