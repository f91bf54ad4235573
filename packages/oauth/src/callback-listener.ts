import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asCausewayError, nodeHttp } from '@causeway/protocol'
import { callbackHeaders, callbackPath, renderCallbackPage } from './callback-page.ts'
import type { Logins } from './logins.ts'

/** Receives an authorization server's response on this machine (RFC 8252, section 7.3). */
export class CallbackListener {
  readonly #logins: Logins
  readonly #server: Server

  private constructor(logins: Logins) {
    this.#logins = logins
    this.#server = nodeHttp().createServer({ maxHeaderSize: 16_384 }, (request, response) => {
      void this.#receive(request, response)
    })
  }

  /** Port 0 selects a free one. Rejects with the error of `listen`. */
  static async open(logins: Logins, port = 0): Promise<CallbackListener> {
    const listener = new CallbackListener(logins)
    const server = listener.#server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    return listener
  }

  get redirectUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${callbackPath}`
  }

  async close(): Promise<void> {
    const closePromise = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeIdleConnections()
    await closePromise
  }

  async #receive({ method, url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const expectedUrl = new URL(this.redirectUrl)
    const target = URL.canParse(url, expectedUrl.href) ? new URL(url, expectedUrl) : undefined
    response.setHeader('connection', 'close')
    // A page that uses DNS rebinding sends another Host.
    if (method !== 'GET' || target?.pathname !== callbackPath || headers.host !== expectedUrl.host) {
      response.writeHead(404).end()
      return
    }
    const { status, page } = await answerCallback(this.#logins, target.searchParams)
    response.writeHead(status, callbackHeaders).end(page)
  }
}

/** The page contains at most a sanitized error code of the authorization server. */
export async function answerCallback(
  logins: Pick<Logins, 'finish'>,
  params: URLSearchParams,
): Promise<{ readonly status: number; readonly page: string }> {
  try {
    const { name } = await logins.finish(params)
    const text = `Causeway can use ${name} now. You can close this window.`
    return { status: 200, page: renderCallbackPage('Logged in', text) }
  } catch (error) {
    const { message, remedy, definition } = asCausewayError(error)
    const status = definition.status === 410 ? 400 : definition.status
    return { status, page: renderCallbackPage('Not logged in', `${message}; ${remedy}`) }
  }
}
