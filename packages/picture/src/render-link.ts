import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { CausewayError } from '@causeway/protocol'
import { invalidPicture } from './invalid-picture.ts'
import type { CarriedError, Job, Picture, Reply } from './render-protocol.ts'

/** What a worker made of a job. */
export interface Drawn {
  readonly picture: Picture
  readonly warnings: readonly string[]
}

/** A worker thread that draws one picture at a time. */
export interface RenderLink {
  /** One at a time. Rejects with what the drawing throws, and with `WORKER_LOST` where the thread dies. */
  draw(job: Job): Promise<Drawn>
  readonly isAlive: boolean
  /** Ends the thread at once, its drawing with it; done when the thread has ended. */
  kill(): Promise<void>
}

interface Waiting {
  readonly resolve: (drawn: Drawn) => void
  readonly reject: (error: unknown) => void
}

/** Starts a worker; it keeps the process alive only while it draws. */
export function startRenderer(): RenderLink {
  // A port of its own: `node --watch` posts messages of Node itself on the default one.
  const { port1: port, port2 } = new MessageChannel()
  const worker = new Worker(workerFile, {
    workerData: { port: port2 },
    transferList: [port2],
    // The hooks of a test runner have no place in the worker, but the export condition has.
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
    // What grows beyond it ends the worker alone; a single allocation as large may end the process.
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })
  worker.unref()
  port.unref()
  let isAlive = true
  let waiting: Waiting | undefined

  const settle = (): Waiting | undefined => {
    const settled = waiting
    waiting = undefined
    port.unref()
    return settled
  }
  const end = (cause: unknown) => {
    isAlive = false
    settle()?.reject(died(cause))
    port.close()
  }
  worker.on('error', end)
  worker.on('exit', (code) => end(`exit code ${code}`))
  port.on('message', (reply: Reply) => {
    if ('error' in reply) settle()?.reject(revive(reply.error))
    else settle()?.resolve(reply)
  })

  return {
    async draw(job) {
      if (!isAlive) throw died('not running')
      try {
        port.postMessage(job)
      } catch (cause) {
        throw invalidPicture('the chart is not plain data: it holds a function or a symbol', { cause })
      }
      // While a picture is being drawn the process must not end for lack of work.
      port.ref()
      return new Promise<Drawn>((resolve, reject) => {
        waiting = { resolve, reject }
      })
    },
    get isAlive() {
      return isAlive
    },
    async kill() {
      isAlive = false
      await worker.terminate()
    },
  }
}

/** TypeScript beside the sources, JavaScript beside the build: the compiler does not rewrite this name. */
const workerFile = new URL(`./render-worker${extname(import.meta.url)}`, import.meta.url)

const died = (cause: unknown): CausewayError =>
  new CausewayError('WORKER_LOST', 'the worker that draws pictures ended unexpectedly', {
    remedy: 'call again: a new worker is started; draw fewer points if it repeats',
    cause,
  })

const revive = ({ code, message, data, text }: CarriedError): CausewayError =>
  new CausewayError(code ?? 'INTERNAL', message, { data, cause: text })
