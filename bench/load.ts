import type { Pool } from 'undici'
import type { Program } from './program.ts'
import { median } from './rounds.ts'
import type { EventAnswers } from './wire/event-answers.ts'

/** A request that is sent repeatedly. */
export interface Target {
  readonly pool: Pool
  readonly program: Program
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Returns the message. Each has its own id, because some servers lose calls that share an id. */
  readonly body: (id: number) => string
  /** Set if the response to a request does not contain its answer. */
  readonly answers?: Pick<EventAnswers, 'waitFor'>
}

/** Results of a load test. */
export interface Load {
  readonly perSecond: number
  /** Latency of one request under load, in milliseconds. */
  readonly p50Ms: number
  /** CPU time of the server per request, in microseconds; NaN if it is not available. */
  readonly cpuUs: number
}

/** Sends one request and reads the whole response. Throws if it fails. */
export async function ask({ pool, path, headers, body, answers }: Target, id = 1): Promise<string> {
  const answered = answers?.waitFor(id)
  const answer = await pool.request({ method: 'POST', path, headers, body: body(id) })
  const responseText = await answer.body.text()
  const text = answer.statusCode === 202 && answered !== undefined ? await answered : responseText
  if (answer.statusCode < 300 && !text.includes('"isError":true') && !text.includes('"error":{')) return text
  throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
}

/** Keeps a number of requests in flight for a given time. */
export async function sustain(
  target: Target,
  { ms, inFlight }: { ms: number; inFlight: number },
): Promise<Load> {
  const times: number[] = []
  let lastId = 0
  const cpuBefore = target.program.cpuMs()
  const start = performance.now()
  const end = start + ms
  const one = async (): Promise<void> => {
    for (let before = performance.now(); before < end; before = performance.now()) {
      lastId += 1
      await ask(target, lastId)
      times.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  const seconds = (performance.now() - start) / 1000
  const cpuMs = (target.program.cpuMs() ?? Number.NaN) - (cpuBefore ?? Number.NaN)
  return { perSecond: times.length / seconds, p50Ms: median(times), cpuUs: (cpuMs * 1000) / times.length }
}
