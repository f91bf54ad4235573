import { LoginError } from './errors.ts'
import type { StartedLogin } from './flow.ts'
import { toResource } from './remote-server.ts'

const pendingTimeoutMs = 10 * 60_000
const maxPending = 32
/** Time for which the outcome can be read. */
const outcomeTtlMs = 60_000

export interface LoginRequest {
  readonly authorizationUrl: URL
  readonly state: string
  /** Unix time. */
  readonly expiresAtMs: number
}

interface PendingLogin {
  readonly login: StartedLogin
  readonly expiresAtMs: number
  readonly timer: NodeJS.Timeout
  readonly settle: (error?: Error) => void
}

/** Logins by state. Each login is used once and expires after 10 minutes. */
export class PendingLogins {
  readonly #now: () => number
  readonly #pending = new Map<string, PendingLogin>()
  readonly #outcomes = new Map<string, Promise<void>>()

  constructor(now: () => number) {
    this.#now = now
  }

  add(state: string, login: StartedLogin): LoginRequest {
    const [oldest] = this.#pending.keys()
    if (oldest !== undefined && this.#pending.size >= maxPending) this.#expire(oldest)
    let settle = (_error?: Error): void => {}
    const outcome = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error))
    })
    // Prevents an unhandled rejection if no command waits.
    outcome.catch(() => {})
    const timer = setTimeout(() => this.#expire(state), pendingTimeoutMs).unref()
    const expiresAtMs = this.#now() + pendingTimeoutMs
    this.#pending.set(state, { login, expiresAtMs, timer, settle })
    this.#outcomes.set(state, outcome)
    return { authorizationUrl: login.authorizationUrl, state, expiresAtMs }
  }

  /** Throws `LOGIN_UNKNOWN`. */
  take(state: string): Pick<PendingLogin, 'login' | 'settle'> {
    const pending = this.#pending.get(state)
    if (pending === undefined) throw createUnknownLoginError()
    this.#remove(state, pending)
    if (this.#now() < pending.expiresAtMs) return pending
    pending.settle(createUnknownLoginError())
    throw createUnknownLoginError()
  }

  findLast(resource: string): string | undefined {
    return [...this.#pending].findLast(([, { login }]) => toResource(login.server.url) === resource)?.[0]
  }

  /** Throws like `Logins.wait`. */
  async wait(state: string, signal: AbortSignal): Promise<void> {
    const outcome = this.#outcomes.get(state)
    if (outcome === undefined) throw createUnknownLoginError()
    signal.throwIfAborted()
    let onAbort = (): void => {}
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
    })
    try {
      await Promise.race([outcome, aborted])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #expire(state: string): void {
    const pending = this.#pending.get(state)
    if (pending === undefined) return
    this.#remove(state, pending)
    pending.settle(createUnknownLoginError())
  }

  #remove(state: string, { timer }: PendingLogin): void {
    clearTimeout(timer)
    this.#pending.delete(state)
    setTimeout(() => this.#outcomes.delete(state), outcomeTtlMs).unref()
  }
}

const createUnknownLoginError = () => new LoginError('LOGIN_UNKNOWN', 'no login waits for this response')
