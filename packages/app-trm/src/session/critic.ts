import type { Env, Log, Roots } from '@causeway/app-kit'
import { CausewayError, type ErrorData } from '@causeway/protocol'
import { CallQueue } from '@causeway/worker'
import type { SandboxLevel } from '../domain/command/sandbox.ts'
import { Engine } from '../engine/engine.ts'
import type { Snapshots } from '../snapshot/snapshots.ts'
import type { SessionRow } from '../store/rows.ts'
import type { TrmStore } from '../store/store.ts'
import type { RunningStep } from './running-step.ts'

export const defaultMaxParallel = 2

/** Server settings that no session can exceed. */
interface Policy {
  readonly roots: Roots
  /** `any`, `detected`, or a regular expression for whole commands. */
  readonly commands: string
  /** Names of tokens that may run any command. */
  readonly trusted: ReadonlySet<unknown>
  /** Minimum isolation of every session. */
  readonly sandbox: SandboxLevel
}

interface CriticOptions {
  readonly env: Env
  readonly store: TrmStore
  readonly snapshots: Snapshots
  readonly policy: Policy
  readonly maxParallel?: number | undefined
  readonly dir: string
}

export const shutdownError = new CausewayError('CANCELLED', 'the server is stopping')

/** State shared by all clients: sessions, snapshots and running evaluations. */
export class Critic {
  readonly store: TrmStore
  readonly snapshots: Snapshots
  readonly policy: Policy
  readonly dir: string
  readonly engine = new Engine()
  readonly queue: CallQueue
  readonly log: Log
  readonly now: () => number
  readonly newId: () => string
  readonly running = new Map<string, RunningStep>()
  readonly #changed: Env['changed']
  readonly #closeController = new AbortController()
  readonly #maintenance: Promise<void>

  constructor({ env, store, snapshots, policy, maxParallel = defaultMaxParallel, dir }: CriticOptions) {
    this.store = store
    this.snapshots = snapshots
    this.policy = policy
    this.dir = dir
    this.queue = new CallQueue({
      name: 'evaluations',
      maxRunning: maxParallel,
      maxWaiting: Number.POSITIVE_INFINITY,
    })
    this.log = env.log
    this.now = env.now
    this.newId = env.newId
    this.#changed = env.changed
    this.#maintenance = this.#maintainSnapshots()
  }

  notifyChanged(sid: string): void {
    this.#changed.resource(`trm://sessions/${sid}`)
  }

  /** Returns an active session. Throws `SESSION_NOT_FOUND`, with `data.status` `ended` if the session has ended. */
  async findSession(sid: string | undefined): Promise<SessionRow> {
    if (sid === undefined) throw createNotFoundError('no session id was given', { sid: null })
    const row = await this.store.findSession(sid)
    if (row === undefined) throw createNotFoundError(`no session has this id: ${sid}`, { sid })
    if (row.status === 'ended')
      throw createNotFoundError(`the session has already ended: ${sid}`, { sid, status: 'ended' })
    return row
  }

  /** Interrupts running evaluations, restores their files and closes the database. */
  async close(): Promise<void> {
    this.#closeController.abort(shutdownError)
    const steps = [...this.running.values()]
    await Promise.all([...steps.map((step) => step.cancel(shutdownError)), this.#maintenance])
    await this.engine.close()
    this.store.close()
  }

  /** Moves snapshots of version 0.2 and releases the space of removed snapshots. */
  async #maintainSnapshots(): Promise<void> {
    const { signal } = this.#closeController
    try {
      await this.snapshots.importArchive(signal)
    } catch (error) {
      if (!signal.aborted) this.log.warn({ err: error }, 'cannot move the snapshots of version 0.2')
    }
    try {
      this.snapshots.collect()
    } catch (error) {
      this.log.warn({ err: error }, 'cannot release the space of removed snapshots')
    }
  }
}

/** The error is not retryable, because the same call would fail again. For MCP sessions, this code is retryable. */
const createNotFoundError = (message: string, data: ErrorData): CausewayError =>
  new CausewayError('SESSION_NOT_FOUND', message, {
    remedy: 'call trm.start, and pass its sessionId as sid',
    retryable: false,
    data,
  })
