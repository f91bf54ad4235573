import { setImmediate as nextTurn } from 'node:timers/promises'
import { type MessagePort, workerData } from 'node:worker_threads'
import {
  createCancelledError,
  type MethodArgs,
  type MethodResult,
  type MethodTable,
  type Progress,
  type Reply,
  type Request,
  serializeError,
} from './messages.ts'

export interface Call {
  /** Aborts when the caller cancels or the worker stops. */
  readonly signal: AbortSignal
  readonly progress: Progress
}

export type Handlers<Table extends MethodTable<Table>> = {
  readonly [Name in keyof Table]: (
    args: MethodArgs<Table, Name>,
    call: Call,
  ) => MethodResult<Table, Name> | Promise<MethodResult<Table, Name>>
}

type UntypedHandler = (args: unknown, call: Call) => unknown

interface ServeOptions {
  /** Message for errors that are not a `CausewayError`. */
  readonly failure: string
  readonly convert?: (error: unknown) => unknown
  readonly close?: () => void | Promise<void>
  /** Buffers of a result to transfer instead of clone. */
  readonly transfer?: (result: unknown) => readonly ArrayBuffer[]
}

/** Starts handlers in call order. While a handler awaits, the next can start. */
export function serve<Table extends MethodTable<Table>>(
  handlers: Handlers<Table>,
  { failure, convert = (error) => error, close, transfer }: ServeOptions,
): void {
  const { port } = workerData as { readonly port: MessagePort }
  const running = new Map<number, AbortController>()
  const send = (reply: Reply, buffers: readonly ArrayBuffer[] = []) => port.postMessage(reply, [...buffers])

  const run = async (id: number, work: (call: Call) => unknown) => {
    const controller = new AbortController()
    const { signal } = controller
    running.set(id, controller)
    try {
      const result = await work({ signal, progress: (...progress) => send({ id, progress }) })
      send({ id, result }, transfer?.(result))
    } catch (error) {
      // An aborted operation may throw an unrelated error.
      send({ id, error: serializeError(signal.aborted ? signal.reason : convert(error), failure) })
    } finally {
      running.delete(id)
    }
  }
  const stop = async () => {
    // Lets handlers that wait for their signal reply first.
    await nextTurn()
    await close?.()
  }
  port.on('message', (request: Request) => {
    const { id } = request
    if ('cancel' in request) running.get(id)?.abort(createCancelledError())
    else if ('stop' in request) {
      for (const controller of running.values()) controller.abort(createCancelledError())
      void run(id, stop).finally(() => port.close())
    } else {
      const handler = handlers[request.method as keyof Table] as unknown as UntypedHandler
      void run(id, (call) => handler(request.args, call))
    }
  })
}
