/** A trace context (https://www.w3.org/TR/trace-context/#traceparent-header). */
export interface Trace {
  /** 32 hex digits. */
  readonly traceId: string
  /** Span of the caller, 16 hex digits. */
  readonly parentId: string
}

/** Returns a `traceparent` with the sampled flag. */
export const formatTrace = ({ traceId, parentId }: Trace): string => `00-${traceId}-${parentId}-01`

const pattern = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/

/** Returns `undefined` for a malformed `traceparent`, which must be ignored. */
export function parseTrace(traceparent: unknown): Trace | undefined {
  if (typeof traceparent !== 'string' || traceparent.startsWith('ff')) return undefined
  const [, traceId, parentId] = pattern.exec(traceparent) ?? []
  return traceId === undefined || parentId === undefined ? undefined : { traceId, parentId }
}
