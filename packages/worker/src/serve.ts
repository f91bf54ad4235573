import { setImmediate as turn } from 'node:timers/promises'
import { type MessagePort, workerData } from 'node:worker_threads'
import { CausewayError } from '@causeway/protocol'
import type { AnswerOf, ArgsOf, MethodTable } from './methods.ts'
import { carry, type Reply, type Request } from './wire.ts'

/** What a call may use beside its argument. */
export interface Call {
  /** Aborts when the caller cancels and when the worker is stopped. */
  readonly signal: AbortSignal
  readonly progress: (done: number, total?: number | undefined, message?: string | undefined) => void
}

/** The functions behind a table of methods; each may use the call beside its argument. */
export type HandlersOf<Table extends MethodTable<Table>> = {
  readonly [Name in keyof Table]: (
    args: ArgsOf<Table, Name>,
    call: Call,
  ) => AnswerOf<Table, Name> | Promise<AnswerOf<Table, Name>>
}

/** How a worker serves. */
export interface ServeOptions {
  /** What clients are told of an error that is not one for them, as in `reading the recording failed`. */
  readonly failure: string
  /** Converts an error before it is sent, for example one of SQLite into a coded one. */
  readonly convert?: (error: unknown) => unknown
  /** Lets go of everything, before the thread ends. */
  readonly close?: () => void | Promise<void>
  /** Buffers of an answer that are moved to the caller and not cloned. */
  readonly moved?: (answer: unknown) => readonly ArrayBuffer[]
}

/**
 * Answers the calls of the thread that started this worker; its entry file calls it once. Calls start in the order in
 * which they come; a cancel reaches the call that it names.
 */
export function serve<Table extends MethodTable<Table>>(
  handlers: HandlersOf<Table>,
  { failure, convert = (error) => error, close, moved }: ServeOptions,
): void {
  const { port } = workerData as { readonly port: MessagePort }
  const running = new Map<number, AbortController>()
  const send = (reply: Reply, transfer: readonly ArrayBuffer[] = []) => port.postMessage(reply, [...transfer])

  const run = async (id: number, method: string, args: unknown, { signal }: AbortController) => {
    const handler = handlers[method as keyof Table] as unknown as (args: unknown, call: Call) => unknown
    const answer = await handler(args, { signal, progress: (...progress) => send({ id, progress }) })
    send({ id, answer }, moved?.(answer))
  }
  const stop = async (id: number) => {
    // What is under way would work on something that is closed.
    for (const other of running.values()) other.abort(cancelled())
    // Whatever waits on its signal says so within a turn; what does not is lost with the thread.
    await turn()
    await close?.()
    send({ id, answer: undefined })
  }
  port.on('message', async (request: Request) => {
    const { id } = request
    if ('cancel' in request) {
      running.get(id)?.abort(cancelled())
      return
    }
    const controller = new AbortController()
    try {
      if ('stop' in request) await stop(id)
      else await run(id, request.method, request.args, started(running, id, controller))
    } catch (error) {
      // A wait that was aborted throws an error of its own.
      const { signal } = controller
      send({ id, error: carry(signal.aborted ? signal.reason : convert(error), failure) })
    } finally {
      running.delete(id)
      if ('stop' in request) port.close()
    }
  })
}

function started(running: Map<number, AbortController>, id: number, controller: AbortController) {
  running.set(id, controller)
  return controller
}

const cancelled = (): CausewayError => new CausewayError('CANCELLED', 'the call was cancelled')
