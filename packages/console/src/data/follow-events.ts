import type { Server } from './server.ts'

/** Events of a stream, oldest first. */
interface Batch<T> {
  readonly events: readonly T[]
  /** Number of events that the server no longer stores. */
  readonly missed: number
}

const retryMs = 1000

/**
 * Follows a stream of events. The stream is open only while the page is visible, because a browser opens few connections to a
 * server; when the page is shown again, it continues after the last event. Starts with the next event, or with `recent` ones.
 * Returns a function that ends it.
 */
export function followEvents<T>(
  server: Server,
  path: string,
  receive: (batch: Batch<T>) => void,
  { from = '' }: { readonly from?: '' | 'recent' } = {},
): () => void {
  let lastEventId: string = from
  let controller: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const open = async (signal: AbortSignal): Promise<void> => {
    try {
      const response = await server.openStream(path, { lastEventId, signal })
      for await (const { id, data } of readEvents(response)) {
        if (signal.aborted) return
        lastEventId = id
        receive(JSON.parse(data) as Batch<T>)
      }
    } catch {
      // The connection ended. The shell shows whether the server can be reached.
    }
    if (!signal.aborted) timer = setTimeout(update, retryMs)
  }
  const update = (): void => {
    clearTimeout(timer)
    controller?.abort()
    controller = undefined
    if (document.hidden) return
    controller = new AbortController()
    void open(controller.signal)
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    clearTimeout(timer)
    controller?.abort()
  }
}

/** Parses server-sent events that have data. */
export async function* readEvents(
  response: Response,
): AsyncGenerator<{ id: string; event: string; data: string }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
    if (done || value === undefined) return
    const parts = (text + value).split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const id = /^id: (.*)$/m.exec(part)?.[1] ?? ''
      const data = /^data: (.*)$/m.exec(part)?.[1]
      const event = /^event: (.*)$/m.exec(part)?.[1] ?? 'message'
      if (data !== undefined) yield { id, event, data }
    }
  }
}
