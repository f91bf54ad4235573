import { isId } from '@causeway/protocol'
import { readEnvelope } from './envelope.ts'
import { Histogram } from './histogram.ts'
import { parsed } from './parsed.ts'
import type { Stage } from './stage.ts'

/** Figures of one bridge since its start. */
export interface Stats {
  /** Sees what passes between the client and the bridge. */
  readonly stage: Stage
  /** A session was opened; from the second on it was a new one. */
  sessionOpened(): void
  /** The figures as one line for a person. */
  line(): string
}

/** A tool that failed. In a JSON text the quotes cannot be part of a string, there they are escaped. */
const failedTool = Buffer.from('"isError":true')

/** `now` is milliseconds on any steady clock. */
export function createStats(now: () => number): Stats {
  const started = now()
  const durations = new Histogram()
  const open = new Map<string, number>()
  let [calls, errors, sessions, bytesIn, bytesOut] = [0, 0, 0, 0, 0]

  const settle = (id: string, isError: boolean): void => {
    const since = open.get(id)
    if (since === undefined) return
    open.delete(id)
    durations.add(now() - since)
    if (isError) errors += 1
  }

  return {
    stage: ({ toServer, toClient }) => ({
      toServer(line) {
        bytesIn += line.length
        const { kind, id } = readEnvelope(line) ?? {}
        if (kind === 'request') {
          calls += 1
          open.set(JSON.stringify(id), now())
        } else if (kind === 'notification' && line.includes('notifications/cancelled'))
          forgetCancelled(open, line)
        toServer(line)
      },
      toClient(json) {
        bytesOut += json.length
        const answer = answerIn(json)
        if (answer !== undefined) settle(answer.id, answer.isError || json.includes(failedTool))
        toClient(json)
      },
    }),
    sessionOpened() {
      sessions += 1
    },
    line() {
      const ms = (share: number): string => durations.quantile(share)?.toPrecision(3) ?? '-'
      const reconnects = Math.max(0, sessions - 1)
      return [
        `${calls} calls, ${errors} errors, ${open.size} in flight, p50 ${ms(0.5)} ms, p95 ${ms(0.95)} ms`,
        `${bytesIn} bytes from the client, ${bytesOut} to it, ${reconnects} reconnects`,
        `${Math.round((now() - started) / 1000)} s`,
      ].join(', ')
    },
  }
}

/** The usual shapes of a good answer, by their first and last members. */
const idFirst = /^\{"jsonrpc":"2\.0","id":("[ !#-[\]-~]*"|-?\d+),"result":/
const idLast = /,"jsonrpc":"2\.0","id":("[ !#-[\]-~]*"|-?\d+)\}$/
const resultFirst = '{"result":'
const edgeBytes = 256

/** The id of an answer as JSON text; undefined for another message. A long one of a usual shape is not read through. */
function answerIn(json: Buffer): { id: string; isError: boolean } | undefined {
  if (json.length > longBytes) {
    const head = json.toString('latin1', 0, edgeBytes)
    const tail = head.startsWith(resultFirst) ? json.toString('latin1', json.length - edgeBytes) : ''
    const id = idFirst.exec(head)?.[1] ?? idLast.exec(tail)?.[1]
    if (id !== undefined) return { id, isError: false }
  }
  const { kind, id, hasResult } = readEnvelope(json) ?? {}
  return kind === 'response' ? { id: JSON.stringify(id), isError: !hasResult } : undefined
}

/** From here on reading a message through costs more than a call. */
const longBytes = 64 * 1024

/** A cancelled call is not answered. */
function forgetCancelled(open: Map<string, number>, line: Buffer): void {
  const { params } = (parsed(line) ?? {}) as { params?: { requestId?: unknown } }
  if (isId(params?.requestId)) open.delete(JSON.stringify(params.requestId))
}
