import { responseIn } from './ask.ts'
import type { Log } from './debug-log.ts'
import { handOn, type OlderStream, openOlderStream } from './older-stream.ts'
import { parsed } from './parsed.ts'
import { createReplyReader } from './reply.ts'
import type { Exchange, Reader, Upstream } from './upstream.ts'

/** What such a server answers to a POST where it has an event stream
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility). */
const refusals: ReadonlySet<number> = new Set([400, 404, 405])

/**
 * A server, also one that speaks only the HTTP+SSE transport of 2024-11-05: where it refuses `initialize`, its event
 * stream is tried, and from then on its answers look like those of a server of today. `limit` is the greatest message
 * in bytes.
 */
export function orOlderServer(upstream: Upstream, { limit, log }: { limit: number; log: Log }): Upstream {
  let state: 'unknown' | 'current' | 'lost' | OlderStream = 'unknown'

  /** Opens the event stream; undefined where there is none. */
  const fallBack = async (): Promise<OlderStream | undefined> => {
    const stream = await openOlderStream(upstream, limit)
    if (stream === undefined) return undefined
    log('the server speaks the HTTP+SSE transport of 2024-11-05')
    if (typeof state === 'object') state.close()
    state = stream
    void stream.ended.then(() => {
      if (state === stream) state = 'lost'
    })
    return stream
  }

  /** Posts `initialize` to a server of which nothing is known yet. */
  const probe = (fields: Record<string, string>, body: Buffer, reader: Reader): Exchange => {
    const refusal = createReplyReader(limit, () => {})
    let isRefused = false
    const first = upstream.post(fields, body, {
      head(status, headers) {
        isRefused = refusals.has(status)
        ;(isRefused ? refusal : reader).head(status, headers)
      },
      data: (chunk) => (isRefused ? refusal : reader).data(chunk),
      kept: () => (isRefused ? refusal : reader).kept(),
    })
    let second: Exchange | undefined
    const done = first.done.then(async () => {
      if (!isRefused) {
        state = 'current'
        return
      }
      const { status = 0, headers = {}, body: text } = refusal.reply() ?? {}
      // An error in words of the protocol is an answer; but who has no POST at all may say so in any words.
      const isAnswer = status !== 405 && responseIn(text) !== undefined
      const older = isAnswer ? undefined : await fallBack()
      if (older === undefined) return handOn(reader, status, headers, text)
      second = older.post(fields, body, reader)
      await second.done
    })
    return { ...first, done, abort: () => (second ?? first).abort() }
  }

  return {
    ...upstream,
    post(fields, body, reader, path) {
      if (typeof state === 'object') return state.post(fields, body, reader)
      if (state === 'current' || path !== undefined) return upstream.post(fields, body, reader, path)
      if (isInitialize(body)) return probe(fields, body, reader)
      return state === 'lost' ? noSession(reader) : upstream.post(fields, body, reader)
    },
    listen(fields, reader) {
      if (typeof state === 'object') return state.listen(reader)
      return state === 'lost' ? noSession(reader) : upstream.listen(fields, reader)
    },
    remove(fields, reader) {
      if (typeof state !== 'object') return upstream.remove(fields, reader)
      state.close()
      return answered(reader, 200)
    },
  }
}

/** The session went with its stream; a new one is opened for whoever reads this. */
const noSession = (reader: Reader): Exchange => answered(reader, 404)

function answered(reader: Reader, status: number): Exchange {
  handOn(reader, status, {})
  const done = Promise.resolve()
  return { sent: done, done, wasWritten: () => false, abort: () => {} }
}

const isInitialize = (body: Buffer): boolean =>
  body.includes('"initialize"') && (parsed(body) as { method?: unknown } | null)?.method === 'initialize'
