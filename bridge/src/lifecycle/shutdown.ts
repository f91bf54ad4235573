import { setTimeout as sleep } from 'node:timers/promises'
import { CausewayError, canSignal, listStopSignals } from '@causeway/protocol'
import type { Relay } from '../calls/relay.ts'
import type { Upstream } from '../http/upstream.ts'
import type { Session } from '../session/session.ts'
import type { Output } from '../stdio/output.ts'
import type { Log } from './debug-log.ts'
import { Deferred } from './deferred.ts'

interface Options {
  readonly relay: Pick<Relay, 'waitUntilIdle' | 'closeSubscriptions' | 'failAll'>
  readonly session: Pick<Session, 'close'>
  readonly upstream: Pick<Upstream, 'destroy'>
  readonly output: Pick<Output, 'flush'>
  readonly findError: () => CausewayError | undefined
  readonly exit: (code: number) => void
  readonly log: Log
}

const closeTimeoutMs = 500

/** Waits for pending calls for a grace period, fails the remaining ones, deletes the session and exits. */
export class Shutdown {
  readonly #options: Options
  #waitEnd: Deferred | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Another call with a shorter grace period shortens the wait. */
  async begin(reason: string, graceMs: number, code = 0): Promise<void> {
    const { relay, output, log } = this.#options
    log(`ending: ${reason}`)
    const timeout = sleep(graceMs)
    if (this.#waitEnd !== undefined) return timeout.then(this.#waitEnd.resolve)
    this.#waitEnd = new Deferred()
    relay.closeSubscriptions()
    await Promise.race([relay.waitUntilIdle().then(() => output.flush()), timeout, this.#waitEnd.promise])
    await this.#close(code)
  }

  async #close(code: number): Promise<void> {
    const { relay, session, upstream, output, findError, exit, log } = this.#options
    relay.failAll(
      findError() ?? new CausewayError('SHUTTING_DOWN', 'the bridge exited before the response arrived'),
    )
    const sessionClosed = Promise.all([session.close().catch(() => {}), output.flush()])
    await Promise.race([sessionClosed, sleep(closeTimeoutMs)])
    await upstream.destroy()
    log(`ended with ${code}`)
    exit(code)
  }
}

/** Typical clients send SIGKILL 2 s after SIGTERM. */
const signalGraceMs = 1000

const parentPollMs = 2000

interface Handlers {
  readonly end: (reason: string, graceMs: number, code?: number) => void
  readonly onCrash: (error: Error) => void
  readonly printStats: () => void
}

export function handleProcessEvents({ end, onCrash, printStats }: Handlers): void {
  let signals = 0
  for (const signal of new Set([...listStopSignals(), 'SIGHUP'] as const))
    process.on(signal, (_name: string, number: number) => {
      signals += 1
      if (signals > 1) process.exit(128 + number)
      end(signal, signalGraceMs)
    })
  if (canSignal()) process.on('SIGUSR2', printStats)
  process.on('uncaughtException', (error) => {
    onCrash(error)
    end('uncaught exception', 0, 1)
  })
  watchParent(() => end('the parent process has exited', signalGraceMs))
}

/** Detects that the client exited, even if another process holds standard input open. */
function watchParent(onExit: () => void): void {
  const parentPid = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parentPid) return
    clearInterval(timer)
    onExit()
  }, parentPollMs)
  timer.unref()
}
