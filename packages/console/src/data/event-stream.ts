import { readEvents } from './follow-events.ts'
import type { Server } from './server.ts'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Pause before the next attempt after the connection was lost, in ms. */
const retryMs = 1000

/**
 * Reads server-sent events until the signal is aborted. Reconnects after an interruption and resumes after the last event.
 * Throws `ServerError` if the server rejects the request.
 */
export async function followNamedEvents(
  server: Server,
  path: string,
  { signal, onEvent }: { readonly signal: AbortSignal; readonly onEvent: (event: StreamEvent) => void },
): Promise<void> {
  let lastEventId = ''
  while (!signal.aborted) {
    try {
      const response = await server.openStream(path, { lastEventId, signal })
      for await (const { id, event, data } of readEvents(response)) {
        lastEventId = id
        onEvent({ id, event, data: JSON.parse(data) })
      }
    } catch (error) {
      if (signal.aborted) return
      // Without a response, the server may be restarting.
      if (server.isReachable.value && !(error instanceof TypeError)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}
