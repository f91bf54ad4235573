import type { CausewayError } from '@causeway/protocol'
import { errorLine } from './answer.ts'
import type { Call, Calls } from './calls.ts'
import { createCancel } from './cancel.ts'
import type { Log } from './debug-log.ts'
import type { Deliver } from './deliver.ts'
import type { Forward } from './forward.ts'
import { type Incoming, type Line, readLine } from './message.ts'
import { createOrder } from './order.ts'
import type { Output } from './output.ts'
import type { Questions } from './questions.ts'
import type { Session } from './session.ts'

/** What happens to each line of the client. */
export interface Relay {
  receive(line: Buffer): void
  /** Resolves when everything received is answered. */
  idle(): Promise<void>
  /** Gives up calls that only end with the client. */
  dropListening(): void
  /** Answers every open call, and every later one, with this error; nothing more is sent. */
  failAll(error: CausewayError): void
}

interface Parts {
  readonly calls: Calls
  readonly forward: Forward
  readonly session: Session
  readonly questions: Questions
  readonly deliver: Deliver
  readonly output: Output
  /** True: read no more from the client for now. */
  readonly onFull: (isFull: boolean) => void
  /** Runs something when the answer to a cancelled call has had its time. */
  readonly later: (then: () => void) => void
  readonly log: Log
}

/** Calls that are with the server at one time; the others wait here. */
const maxInFlight = 256

/**
 * Calls that wait here before the client is read no more. Not none: the calls in flight may all wait for an answer of
 * the client, which comes behind.
 */
const maxWaiting = 256

/** Messages that the bridge acts on itself; a batch with one of them is taken apart. */
const acted: ReadonlySet<string> = new Set([
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
])

const isPlain = ({ kind, method, claimed }: Incoming): boolean =>
  claimed === undefined && kind !== 'response' && !acted.has(method)

export function createRelay(parts: Parts): Relay {
  const { calls, forward, session, questions, deliver, output, onFull, later, log } = parts
  const order = createOrder()
  const backlog: Call[] = []
  let inFlight = 0
  let oneWays = 0
  let isFull = false
  let failure: CausewayError | undefined
  const onIdle: (() => void)[] = []

  const update = (): void => {
    const wasFull = isFull
    isFull = backlog.length + order.waiting() >= maxWaiting
    if (isFull !== wasFull) onFull(isFull)
    if (calls.size > 0 || oneWays > 0 || order.waiting() > 0) return
    for (const resolve of onIdle.splice(0)) resolve()
  }

  const launch = (call: Call): void => {
    inFlight += 1
    void forward.call(call)
    void call.settled.then(() => {
      inFlight -= 1
      while (inFlight < maxInFlight && backlog.length > 0) {
        const next = backlog.shift() as Call
        // One that was cancelled while it waited is never sent.
        if (next.open.size > 0) launch(next)
      }
      update()
    })
  }

  const request = (bytes: Buffer, messages: readonly [Incoming, ...Incoming[]]): Call => {
    const call = calls.open(bytes, messages)
    if (failure !== undefined) deliver.fail(call, failure)
    else if (inFlight < maxInFlight) launch(call)
    else backlog.push(call)
    return call
  }

  const oneWay = async (message: Incoming, after?: Promise<void>): Promise<boolean> => {
    if (failure !== undefined) return false
    oneWays += 1
    await after
    const wasTaken = await forward.oneWay(message)
    oneWays -= 1
    // Whoever waits for this message goes first: it may start the next.
    queueMicrotask(update)
    return wasTaken
  }

  const cancel = createCancel(calls, (message, after) => void oneWay(message, after), later)

  /** Answers the server, unless the session that asked is gone. */
  const answer = (message: Incoming): void => {
    const bytes = questions.toServer(message)
    if (bytes !== undefined) void oneWay({ ...message, bytes })
    else log(`dropped an answer to a session that is gone, id ${message.id}`)
  }

  /** Starts one message; a promise holds up the messages behind it. */
  const begin = (message: Incoming): Promise<void> | undefined => {
    if (message.kind === 'request') {
      const call = request(message.bytes, [message])
      if (message.claimed === undefined && message.method === 'initialize') return call.settled
      if (message.claimed === undefined) session.remember(message)
    } else if (message.method === 'notifications/cancelled') cancel(message)
    else if (message.method === 'notifications/initialized')
      return oneWay(message).then((wasTaken) => {
        // A session that is open works even where this got lost, and a later one must be told.
        if (wasTaken || (failure === undefined && session.mark().id !== undefined)) session.remember(message)
      })
    else if (message.kind === 'response') answer(message)
    else void oneWay(message)
    return undefined
  }

  /** Only sessions of 2025-03-26 know batches; for the others each message goes by itself. */
  const beginBatch = (bytes: Buffer, messages: readonly Incoming[]): Promise<void> | undefined => {
    const first = messages.find(({ kind }) => kind === 'request')
    if (session.mark().version === '2025-03-26' && first !== undefined && messages.every(isPlain)) {
      request(bytes, [first, ...messages.filter((message) => message !== first)])
      for (const message of messages) session.remember(message)
      return undefined
    }
    const held = messages.flatMap((message) => begin(message) ?? [])
    return held.length === 0 ? undefined : Promise.all(held).then(() => {})
  }

  const accept = (line: Line): void => {
    if (line.type === 'rejected') {
      log(`! rejected a line: ${line.rejection.error.code}`)
      output.write(errorLine(line.rejection.id, line.rejection.error))
    } else if (line.type === 'batch') order.push(() => beginBatch(line.bytes, line.messages))
    else if (line.message.claimed !== undefined) begin(line.message)
    else order.push(() => begin(line.message))
  }

  return {
    receive(bytes) {
      for (const line of readLine(bytes)) accept(line)
      update()
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle.push(resolve)
        update()
      }),
    dropListening() {
      for (const call of calls) {
        if (call.message.method !== 'subscriptions/listen') continue
        calls.settleAll(call)
        call.abort?.()
      }
    },
    failAll(error) {
      failure ??= error
      for (const call of calls) deliver.fail(call, error)
      order.release()
    },
  }
}
