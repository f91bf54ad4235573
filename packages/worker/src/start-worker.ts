import { setTimeout as wait } from 'node:timers/promises'
import { MessageChannel, type ResourceLimits, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { CausewayError } from '@causeway/protocol'
import type { AnswerOf, ArgsOf, MethodName, MethodTable } from './methods.ts'
import { type Reply, type Request, revive } from './wire.ts'

/** What a call to a worker reports and by what it is stopped. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly progress?:
    | ((done: number, total?: number | undefined, message?: string | undefined) => void)
    | undefined
}

/** How a call is sent, beside that. */
export interface SendOptions extends CallOptions {
  /** Buffers of the argument that are moved to the worker and not cloned: they are empty here from then on. */
  readonly moved?: readonly ArrayBuffer[]
}

/** A worker thread and the calls that it has in hand. */
export interface WorkerLink<Table extends MethodTable<Table>> {
  /** Rejects with what the method throws, `CANCELLED` on abort, `WORKER_LOST` where the worker dies. */
  call<Name extends MethodName<Table>>(
    method: Name,
    args: ArgsOf<Table, Name>,
    options?: SendOptions,
  ): Promise<AnswerOf<Table, Name>>
  /** Calls that have no answer yet. */
  readonly pending: number
  /** False once it is being stopped: whoever has another question starts another worker. */
  readonly isAlive: boolean
  /**
   * Bytes of its heap and of the buffers that the heap holds; 0 once it has ended. Those of the last time where it is in the
   * middle of something that cannot be interrupted.
   */
  bytes(): Promise<number>
  /** Ends the thread at once, its calls with it; done when it has ended. */
  kill(): Promise<void>
  /** Aborts the calls in hand, lets the worker close what it holds and ends the thread. */
  stop(): Promise<void>
}

/** Who a worker is, for messages, and what it may use. */
export interface WorkerAbout {
  /** As in `the worker that reads the recording`. */
  readonly name: string
  /** What a caller does when it was lost. */
  readonly remedy?: string
  readonly resourceLimits?: ResourceLimits
}

interface PendingCall {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly progress: CallOptions['progress']
}

/** Starts a worker of this entry file, which calls `serve`. It keeps the process alive only while it has calls in hand. */
export function startWorker<Table extends MethodTable<Table>>(
  entry: URL,
  { name, remedy = 'call again: a new worker is started', resourceLimits }: WorkerAbout,
): WorkerLink<Table> {
  // A port of its own: `node --watch` posts messages of Node itself on the default one.
  const { port1: port, port2 } = new MessageChannel()
  const worker = new Worker(entry, {
    workerData: { port: port2 },
    transferList: [port2],
    // The hooks of a test runner have no place in the worker, but the export condition has.
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  })
  const rest = () => {
    worker.unref()
    port.unref()
  }
  rest()
  const calls = new Map<number, PendingCall>()
  let lastId = 0
  let isAlive = true

  const died = (cause: unknown): CausewayError =>
    new CausewayError('WORKER_LOST', `${name} ended unexpectedly`, { remedy, cause })
  const settle = (id: number): PendingCall | undefined => {
    const call = calls.get(id)
    calls.delete(id)
    if (calls.size === 0) rest()
    return call
  }
  const receive = (reply: Reply) => {
    if ('progress' in reply) calls.get(reply.id)?.progress?.(...reply.progress)
    else if ('error' in reply) settle(reply.id)?.reject(revive(reply.error))
    else settle(reply.id)?.resolve(reply.answer)
  }
  const end = (cause: unknown) => {
    isAlive = false
    // The exit can be reported before the replies that the thread sent last.
    for (let last = receiveMessageOnPort(port); last !== undefined; last = receiveMessageOnPort(port))
      receive(last.message)
    port.close()
    for (const id of [...calls.keys()]) settle(id)?.reject(died(cause))
  }
  worker.on('error', end)
  const ended = new Promise<true>((resolve) => {
    worker.on('exit', (code) => {
      end(`exit code ${code}`)
      resolve(true)
    })
  })
  port.on('message', receive)
  /** Sends a request whose answer is awaited; throws where it cannot be cloned. */
  const ask = async (request: Request, { progress, moved = [] }: SendOptions = {}): Promise<unknown> => {
    if (!isAlive) throw died('not running')
    port.postMessage(request, moved)
    // While a call is under way the process must not end for lack of work, nor before it hears of a thread that died.
    worker.ref()
    port.ref()
    return new Promise((resolve, reject) => calls.set(request.id, { resolve, reject, progress }))
  }

  let lastBytes = 0
  let asking: Promise<number> | undefined
  const measured = async (): Promise<number> => {
    // While it is asked the process must not end for lack of work; the worker may.
    worker.ref()
    const { used_heap_size: used, external_memory: outside } = await worker
      .getHeapStatistics()
      .catch(() => ({ used_heap_size: 0, external_memory: 0 }))
    if (calls.size === 0) rest()
    lastBytes = used + outside
    return lastBytes
  }

  return {
    async call(method, args, options = {}) {
      const { signal } = options
      const id = ++lastId
      const answer = ask({ id, method, args }, options)
      const cancel = () => port.postMessage({ id, cancel: true } satisfies Request)
      if (signal?.aborted) cancel()
      else signal?.addEventListener('abort', cancel, { once: true })
      return answer.finally(() => signal?.removeEventListener('abort', cancel)) as Promise<never>
    },
    get pending() {
      return calls.size
    },
    get isAlive() {
      return isAlive
    },
    async bytes() {
      if (!isAlive) return 0
      asking ??= measured().finally(() => {
        asking = undefined
      })
      const late = wait(measureMs, undefined, { ref: false }).then(() => lastBytes)
      return Promise.race([asking, late])
    },
    async kill() {
      isAlive = false
      await worker.terminate()
    },
    async stop() {
      if (isAlive) {
        const stopped = ask({ id: ++lastId, stop: true })
        // A call that comes now would be lost with the thread: whoever asks must start another.
        isAlive = false
        await stopped.catch(() => undefined)
      }
      // With its port closed the thread ends by itself, in order; the process has to last until then.
      worker.ref()
      const isOver = await Promise.race([ended, wait(stopMs, false, { ref: false })])
      if (!isOver) await worker.terminate()
    },
  }
}

/** Starts a worker for work that keeps it; ends it where the work fails. */
export async function inWorker<Table extends MethodTable<Table>, Result>(
  start: () => WorkerLink<Table>,
  work: (link: WorkerLink<Table>) => Promise<Result>,
): Promise<Result> {
  const link = start()
  try {
    return await work(link)
  } catch (error) {
    await link.stop()
    throw error
  }
}

/** Time that a worker gets to tell its memory, ms: a statement of SQLite answers nothing before it is done. */
const measureMs = 50

/** Time that a worker gets to end by itself, ms. */
const stopMs = 2000
