import { extname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MessageChannel, Worker } from 'node:worker_threads'
import { CausewayError } from '@causeway/protocol'
import type { AnswerOf, ArgsOf, CarriedError, Reply, Request, WorkerMethod } from './worker-protocol.ts'

/** What a call to a worker reports and by what it is stopped. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((done: number, total: number, message: string) => void) | undefined
}

/** A worker thread and the calls that it has in hand. */
export interface WorkerLink {
  /** Rejects with what the method throws, `CANCELLED` on abort, `WORKER_LOST` where the worker dies. */
  call<Method extends WorkerMethod>(
    method: Method,
    args: ArgsOf<Method>,
    options?: CallOptions,
  ): Promise<AnswerOf<Method>>
  /** Calls that have no answer yet. */
  readonly pending: number
  readonly isAlive: boolean
  /** Ends the thread at once, its calls with it. */
  kill(): Promise<void>
  /** Lets the calls in hand finish, closes the private copy and ends the thread. */
  stop(): Promise<void>
}

interface PendingCall {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly progress: CallOptions['progress']
}

/** Starts a worker of this entry file; it does not keep the process alive. */
export function startWorker(entry: URL = workerFile): WorkerLink {
  // A port of its own: `node --watch` posts messages of Node itself on the default one.
  const { port1: port, port2 } = new MessageChannel()
  const worker = new Worker(entry, {
    workerData: { port: port2 },
    transferList: [port2],
    // The hooks of a test runner have no place in the worker, but the export condition has.
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
  })
  worker.unref()
  port.unref()
  const calls = new Map<number, PendingCall>()
  let lastId = 0
  let isAlive = true

  const settle = (id: number): PendingCall | undefined => {
    const call = calls.get(id)
    calls.delete(id)
    if (calls.size === 0) port.unref()
    return call
  }
  const end = (cause: unknown) => {
    isAlive = false
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
  port.on('message', (reply: Reply) => {
    if ('progress' in reply) calls.get(reply.id)?.progress?.(...reply.progress)
    else if ('error' in reply) settle(reply.id)?.reject(revive(reply.error))
    else settle(reply.id)?.resolve(reply.answer)
  })

  const link: WorkerLink = {
    call(method, args, { signal, progress } = {}) {
      if (!isAlive) return Promise.reject(died('not running'))
      const id = ++lastId
      const send = (request: Request) => port.postMessage(request)
      const cancel = () => send({ id, cancel: true })
      const answer = new Promise<unknown>((resolve, reject) => calls.set(id, { resolve, reject, progress }))
      // While a call is under way the process must not end for lack of work.
      port.ref()
      send({ id, method, args })
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
    async kill() {
      await worker.terminate()
    },
    async stop() {
      if (isAlive) await link.call('stop', undefined).catch(() => undefined)
      // With its port closed the thread ends by itself, in order; the process has to last until then.
      worker.ref()
      const isOver = await Promise.race([ended, wait(stopMs, false, { ref: false })])
      if (!isOver) await worker.terminate()
    },
  }
  return link
}

/** Starts a worker for work that keeps it; ends it where the work fails. */
export async function inWorker<Result>(
  start: () => WorkerLink,
  work: (link: WorkerLink) => Promise<Result>,
): Promise<Result> {
  const link = start()
  try {
    return await work(link)
  } catch (error) {
    await link.stop()
    throw error
  }
}

/** Time that a worker gets to end by itself, ms. */
const stopMs = 2000

/** TypeScript beside the sources, JavaScript beside the build: the compiler does not rewrite this name. */
const workerFile = new URL(`./recording-worker${extname(import.meta.url)}`, import.meta.url)

const died = (cause: unknown): CausewayError =>
  new CausewayError('WORKER_LOST', 'the worker that reads the recording ended unexpectedly', {
    remedy: 'call again: a new worker is started',
    cause,
  })

function revive({ code, message, remedy, data, text }: CarriedError): CausewayError {
  const options = remedy === undefined ? { data } : { data, remedy }
  return new CausewayError(code ?? 'INTERNAL', message, { ...options, cause: text })
}
