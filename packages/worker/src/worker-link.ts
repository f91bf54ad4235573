import { extname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads'
import { type CausewayError, toFileLimitError } from '@causeway/protocol'
import { WorkerError } from './errors.ts'
import {
  createCancelledError,
  deserializeError,
  type MethodArgs,
  type MethodResult,
  type MethodTable,
  type Progress,
  type Reply,
  type Request,
} from './messages.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly progress?: Progress | undefined
}

interface SendOptions extends CallOptions {
  /** Buffers to transfer instead of clone. */
  readonly transfer?: readonly ArrayBuffer[]
}

interface WorkerOptions {
  /** Subject of error messages: `the worker that reads the recording`. */
  readonly name: string
  /** Remedy of `WORKER_LOST`. Default: to call again. */
  readonly remedy?: string
  readonly resourceLimits?: ResourceLimits
}

interface PendingCall {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly progress: CallOptions['progress']
}

/** Limited, because a long SQLite statement delays a measurement. */
const measureTimeoutMs = 50

const stopTimeoutMs = 2000

/** A worker thread. It keeps the process alive only during calls. */
export class WorkerLink<Table extends MethodTable<Table>> {
  readonly #options: WorkerOptions
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #exitPromise: Promise<true>
  readonly #calls = new Map<number, PendingCall>()
  #lastId = 0
  #isAlive = true
  #isStopping = false
  #lastBytes = 0
  #measurement: Promise<number> | undefined

  /** The entry file must call `serve`. */
  constructor(entry: URL, options: WorkerOptions) {
    this.#options = options
    // Not the default port, on which `node --watch` posts its own messages.
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(entry, {
      workerData: { port: port2 },
      transferList: [port2],
      // Other arguments can be hooks of a test runner.
      execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
    })
    this.#worker.on('error', (error) => this.#end(error))
    this.#exitPromise = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#end(`exit code ${code}`)
        resolve(true)
      })
    })
    this.#port.on('message', (reply: Reply) => this.#receive(reply))
    this.#updateRefs()
  }

  get pending(): number {
    return this.#calls.size
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Rejects with the method's error, `CANCELLED`, `WORKER_LOST` if the worker ends, or `OVERLOADED` if it cannot start. */
  async call<Name extends keyof Table & string>(
    method: Name,
    args: MethodArgs<Table, Name>,
    options: SendOptions = {},
  ): Promise<MethodResult<Table, Name>> {
    const { signal } = options
    if (signal?.aborted) throw createCancelledError()
    const id = ++this.#lastId
    const result = this.#send({ id, method, args }, options)
    const cancel = () => this.#port.postMessage({ id, cancel: true } satisfies Request)
    signal?.addEventListener('abort', cancel, { once: true })
    return result.finally(() => signal?.removeEventListener('abort', cancel)) as Promise<never>
  }

  /** Returns the size of heap and buffers, or the previous size if the worker is blocked. */
  async bytes(): Promise<number> {
    if (!this.#isAlive) return 0
    this.#measurement ??= this.#measureBytes()
    const lastBytes = wait(measureTimeoutMs).then(() => this.#lastBytes)
    // An ending thread may leave its measurement pending.
    return Promise.race([this.#measurement, lastBytes, this.#exitPromise.then(() => 0)])
  }

  /** Returns CPU time, or elapsed time before Node.js 24.6. May never resolve for a blocked or ended thread. */
  async readCpuMs(): Promise<number> {
    if (typeof this.#worker.cpuUsage !== 'function') return performance.now()
    const { user, system } = await this.#worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    return (user + system) / 1000
  }

  /** Ends the thread. Pending calls fail with `WORKER_LOST`. */
  async kill(): Promise<void> {
    this.#isAlive = false
    await this.#worker.terminate()
  }

  /** Cancels pending calls, runs the `close` option of `serve` and ends the thread. */
  async stop(): Promise<void> {
    if (this.#isAlive) {
      const stopReply = this.#send({ id: ++this.#lastId, stop: true })
      this.#isAlive = false
      await stopReply.catch(() => undefined)
    }
    this.#isStopping = true
    this.#updateRefs()
    const hasExited = await Promise.race([this.#exitPromise, wait(stopTimeoutMs, false, { ref: false })])
    if (!hasExited) await this.#worker.terminate()
  }

  async #send(request: Request, { progress, transfer = [] }: SendOptions = {}): Promise<unknown> {
    if (!this.#isAlive) throw this.#createLostError('not running')
    this.#port.postMessage(request, transfer)
    const result = new Promise((resolve, reject) =>
      this.#calls.set(request.id, { resolve, reject, progress }),
    )
    this.#updateRefs()
    return result
  }

  #receive(reply: Reply): void {
    if ('progress' in reply) this.#calls.get(reply.id)?.progress?.(...reply.progress)
    else if ('error' in reply) this.#remove(reply.id)?.reject(deserializeError(reply.error))
    else this.#remove(reply.id)?.resolve(reply.result)
  }

  #remove(id: number): PendingCall | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    this.#updateRefs()
    return call
  }

  #end(cause: unknown): void {
    this.#isAlive = false
    // `exit` can be emitted before the last replies are received.
    for (
      let queuedMessage = receiveMessageOnPort(this.#port);
      queuedMessage;
      queuedMessage = receiveMessageOnPort(this.#port)
    )
      this.#receive(queuedMessage.message)
    this.#port.close()
    for (const id of [...this.#calls.keys()]) this.#remove(id)?.reject(this.#createLostError(cause))
  }

  #createLostError(cause: unknown): CausewayError {
    const fileLimit = toFileLimitError(cause)
    if (fileLimit !== undefined) return fileLimit
    const { name, remedy = 'call again: a new worker is started' } = this.#options
    return new WorkerError('WORKER_LOST', `${name} ended unexpectedly`, { remedy, cause })
  }

  async #measureBytes(): Promise<number> {
    const { used_heap_size, external_memory } = await this.#worker
      .getHeapStatistics()
      .catch(() => ({ used_heap_size: 0, external_memory: 0 }))
    this.#measurement = undefined
    this.#lastBytes = used_heap_size + external_memory
    return this.#lastBytes
  }

  #updateRefs(): void {
    if (this.#calls.size > 0) this.#port.ref()
    else this.#port.unref()
    if (this.#calls.size > 0 || this.#isStopping) this.#worker.ref()
    else this.#worker.unref()
  }
}

export async function initializeWorker<Table extends MethodTable<Table>, Result>(
  link: WorkerLink<Table>,
  initialize: (link: WorkerLink<Table>) => Promise<Result>,
): Promise<Result> {
  try {
    return await initialize(link)
  } catch (error) {
    await link.stop()
    throw error
  }
}

/** Adds the module's extension to `name`: `.ts` in sources, `.js` in builds. */
export function resolveWorkerFile(name: string, moduleUrl: string): URL {
  return new URL(`./${name}${extname(new URL(moduleUrl).pathname)}`, moduleUrl)
}
