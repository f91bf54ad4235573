/** Traces as W3C writes them (https://www.w3.org/TR/trace-context/#traceparent-header). */

/** A place of a trace. */
export interface Trace {
  /** 32 hex digits. */
  readonly traceId: string
  /** The span of the caller, 16 hex digits. */
  readonly parentId: string
}

/** The text of a place: sampled, as whoever named it wants to see it. */
export const traceText = ({ traceId, parentId }: Trace): string => `00-${traceId}-${parentId}-01`

const form = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/

/** The place that a `traceparent` names; one of a wrong form names none, as its specification wants. */
export function traceOf(traceparent: unknown): Trace | undefined {
  if (typeof traceparent !== 'string' || traceparent.startsWith('ff')) return undefined
  const [, traceId, parentId] = form.exec(traceparent) ?? []
  return traceId === undefined || parentId === undefined ? undefined : { traceId, parentId }
}
