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
  readonly #outcomeByState = new Map<string, Promise<void>>()

  constructor(now: () => number) {
    this.#now = now
  }

  add(state: string, login: StartedLogin): LoginRequest {
    const [oldestState] = this.#pending.keys()
    if (oldestState !== undefined && this.#pending.size >= maxPending) this.#expire(oldestState)
    let settle = (_error?: Error): void => {}
    const outcome = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error))
    })
    // Prevents an unhandled rejection if no command waits.
    outcome.catch(() => {})
    const timer = setTimeout(() => this.#expire(state), pendingTimeoutMs).unref()
    const expiresAtMs = this.#now() + pendingTimeoutMs
    this.#pending.set(state, { login, expiresAtMs, timer, settle })
    this.#outcomeByState.set(state, outcome)
    return { authorizationUrl: login.authorizationUrl, state, expiresAtMs }
  }

  /** Throws `LOGIN_UNKNOWN`. */
  take(state: string): Pick<PendingLogin, 'login' | 'settle'> {
    const pendingLogin = this.#pending.get(state)
    if (pendingLogin === undefined) throw createUnknownLoginError()
    this.#remove(state, pendingLogin)
    if (this.#now() < pendingLogin.expiresAtMs) return pendingLogin
    pendingLogin.settle(createUnknownLoginError())
    throw createUnknownLoginError()
  }

  findLast(resource: string): string | undefined {
    return [...this.#pending].findLast(([, { login }]) => toResource(login.server.url) === resource)?.[0]
  }

  /** Throws like `Logins.wait`. */
  async wait(state: string, signal: AbortSignal): Promise<void> {
    const outcome = this.#outcomeByState.get(state)
    if (outcome === undefined) throw createUnknownLoginError()
    signal.throwIfAborted()
    let onAbort = (): void => {}
    const abortPromise = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
    })
    try {
      await Promise.race([outcome, abortPromise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #expire(state: string): void {
    const pendingLogin = this.#pending.get(state)
    if (pendingLogin === undefined) return
    this.#remove(state, pendingLogin)
    pendingLogin.settle(createUnknownLoginError())
  }

  #remove(state: string, { timer }: PendingLogin): void {
    clearTimeout(timer)
    this.#pending.delete(state)
    setTimeout(() => this.#outcomeByState.delete(state), outcomeTtlMs).unref()
  }
}

const createUnknownLoginError = () => new LoginError('LOGIN_UNKNOWN', 'no login waits for this response')
