import { readEvents } from './follow-events.ts'
import { pause, retryUnavailable, type Server } from './server.ts'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/**
 * Reads server-sent events until the signal is aborted, and resumes after an interruption. Waits for `onEvent` before
 * it reads the next event. Throws `ServerError` if the server rejects the request, and the reason of the signal.
 */
export async function followNamedEvents(
  server: Server,
  path: string,
  {
    signal,
    onEvent,
  }: { readonly signal: AbortSignal; readonly onEvent: (event: StreamEvent) => Promise<void> },
): Promise<void> {
  let lastEventId = ''
  const readStream = async (): Promise<void> => {
    const response = await server.openStream(path, { lastEventId, signal })
    for await (const { id, event, data } of readEvents(response)) {
      signal.throwIfAborted()
      await onEvent({ id, event, data: JSON.parse(data) })
      lastEventId = id
    }
  }
  while (!signal.aborted) {
    await retryUnavailable(readStream, signal)
    await pause()
  }
}
