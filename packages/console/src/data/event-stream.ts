import { readEvents } from './follow-events.ts'
import { type Server, ServerError } from './server.ts'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Pause before the next attempt, in ms. */
const retryMs = 1000

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, retryMs))

/**
 * Repeats an attempt while the server is busy, stopping or not reachable, until the signal is aborted. Throws other errors.
 */
export async function retryUnavailable(attempt: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await attempt()
      return
    } catch (error) {
      if (signal.aborted) return
      // The browser reports an interrupted response as a TypeError.
      if (!(error instanceof TypeError) && !(error instanceof ServerError && error.retryable)) throw error
    }
    await pause()
  }
}

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
  const readStream = async (): Promise<void> => {
    const response = await server.openStream(path, { lastEventId, signal })
    for await (const { id, event, data } of readEvents(response)) {
      lastEventId = id
      onEvent({ id, event, data: JSON.parse(data) })
    }
  }
  while (!signal.aborted) {
    await retryUnavailable(readStream, signal)
    await pause()
  }
}
