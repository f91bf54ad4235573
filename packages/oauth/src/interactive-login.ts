import { CallbackListener } from './callback-listener.ts'
import type { Logins } from './logins.ts'
import { openExternally } from './open-externally.ts'
import type { RemoteServer } from './remote-server.ts'

export interface LoginSession {
  begin(): Promise<{ readonly url: URL; readonly state: string }>
  /** Resolves when the login is complete. Throws the reason of the signal. */
  wait(state: string, signal: AbortSignal): Promise<void>
  /** `response` is the URL or code that a person copied. */
  submitResponse(response: string): Promise<void>
  close(): Promise<void>
}

export class LocalLoginSession implements LoginSession {
  readonly #logins: Logins
  readonly #server: RemoteServer
  readonly #listener: CallbackListener

  private constructor(logins: Logins, server: RemoteServer, listener: CallbackListener) {
    this.#logins = logins
    this.#server = server
    this.#listener = listener
  }

  /** Rejects like `CallbackListener.open`. */
  static async open(logins: Logins, server: RemoteServer, port = 0): Promise<LocalLoginSession> {
    return new LocalLoginSession(logins, server, await CallbackListener.open(logins, port))
  }

  async begin(): Promise<{ readonly url: URL; readonly state: string }> {
    const { authorizationUrl, state } = await this.#logins.begin(this.#server, this.#listener.redirectUrl)
    return { url: authorizationUrl, state }
  }

  wait(state: string, signal: AbortSignal): Promise<void> {
    return this.#logins.wait(state, signal)
  }

  async submitResponse(response: string): Promise<void> {
    await this.#logins.finishManually(this.#server, response)
  }

  close(): Promise<void> {
    return this.#listener.close()
  }
}

export interface InteractiveLogin {
  /** Writes to standard output. */
  readonly print: (line: string) => void
  /** Writes to standard error. */
  readonly note: (line: string) => void
  /** `undefined` without a terminal. */
  readonly ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined
  readonly canOpenBrowser: boolean
  readonly signal: AbortSignal
}

export async function runInteractiveLogin(
  session: LoginSession,
  { print, note, ask, canOpenBrowser, signal: interruptSignal }: InteractiveLogin,
): Promise<void> {
  const { url, state } = await session.begin()
  print(`open this page to log in:\n${url.href}`)
  if (canOpenBrowser && ask !== undefined && !(await openExternally(url.href)))
    note('no browser could be opened')
  const doneController = new AbortController()
  const signal = AbortSignal.any([interruptSignal, doneController.signal])
  const loginPromise = session.wait(state, signal)
  try {
    if (ask === undefined) await loginPromise
    else
      await Promise.race([
        loginPromise,
        askForResponse(ask, signal).then((text) => session.submitResponse(text)),
      ])
  } finally {
    doneController.abort()
  }
}

async function askForResponse(
  ask: NonNullable<InteractiveLogin['ask']>,
  signal: AbortSignal,
): Promise<string> {
  const response = await ask('waiting for the login; or paste the URL of the last page: ', signal)
  return response.trim() === '' ? askForResponse(ask, signal) : response
}
