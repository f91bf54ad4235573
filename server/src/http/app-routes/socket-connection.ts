import type { AppSocket, ChannelContext, Socket, Variables } from '@causeway/app-kit'
import { CausewayError, toErrorObject } from '@causeway/protocol'
import type { RawData, WebSocket } from 'ws'
import { logProtocolDetail } from '../../log/log.ts'
import { toClientError } from '../error-responses.ts'
import type { HttpServices } from '../http-services.ts'
import { maxUnreadBytes } from '../web-messages.ts'

interface SocketConnectionOptions {
  readonly services: HttpServices
  readonly id: string
  readonly variables: Variables
  readonly webSocket: WebSocket
  /** Returns `undefined` if a reloaded app no longer has the socket. */
  findDeclaration(): AppSocket | undefined
  run(signal: AbortSignal, work: (ctx: ChannelContext) => Promise<void>): Promise<void>
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const closeCodes = { normal: 1000, goingAway: 1001, unsupportedData: 1003, policyViolation: 1008 }

type Work = (declaration: AppSocket, ctx: ChannelContext) => Promise<void>

/** Passes each frame to the app after the replies to the previous frame. */
export class SocketConnection {
  readonly #options: SocketConnectionOptions
  readonly #closed = new AbortController()
  readonly #socket: Socket
  readonly #keepAlive: NodeJS.Timeout
  /** Resolves when the last received frame is processed. */
  #queue: Promise<void> = Promise.resolve()
  #pendingCount = 0
  #isAlive = true

  constructor(options: SocketConnectionOptions) {
    const { id, variables, webSocket, services } = options
    this.#options = options
    this.#socket = {
      id,
      variables,
      signal: this.#closed.signal,
      send: (text) => this.#send(text),
      close: (reason) => webSocket.close(closeCodes.normal, reason),
    }
    this.#keepAlive = setInterval(() => this.#ping(), services.keepAliveMs).unref()
    webSocket.on('pong', () => {
      this.#isAlive = true
    })
    webSocket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    // Emitted, for example, after a frame that is too large.
    webSocket.on('error', (err) => logProtocolDetail(services.log, { err, socket: id }, 'a socket failed'))
    webSocket.on('close', () => {
      clearInterval(this.#keepAlive)
      this.#closed.abort(new CausewayError('CANCELLED', 'the client closed the socket'))
    })
  }

  open(): void {
    this.#enqueue(async (declaration, ctx) => declaration.open(this.#socket, ctx))
  }

  async close(timeoutMs: number): Promise<void> {
    const { webSocket } = this.#options
    if (webSocket.readyState === webSocket.CLOSED) return
    const whenClosed = new Promise<void>((resolve) => webSocket.once('close', () => resolve()))
    webSocket.close(closeCodes.goingAway, 'the server is stopping')
    const timer = setTimeout(() => webSocket.terminate(), timeoutMs)
    await whenClosed
    clearTimeout(timer)
  }

  revoke(): void {
    this.#options.webSocket.close(closeCodes.policyViolation, 'the token is no longer valid')
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { webSocket } = this.#options
    const text = data.toString()
    if (isBinary) webSocket.close(closeCodes.unsupportedData, 'text frames only')
    else this.#enqueue((declaration, ctx) => declaration.message(text, this.#socket, ctx))
  }

  #enqueue(work: Work): void {
    const { webSocket } = this.#options
    this.#pendingCount += 1
    webSocket.pause()
    this.#queue = this.#queue.then(async () => {
      await this.#run(work)
      this.#pendingCount -= 1
      if (this.#pendingCount > 0) return
      // A pong may be among the unread frames.
      this.#isAlive = true
      webSocket.resume()
    })
  }

  async #run(work: Work): Promise<void> {
    const { services, findDeclaration, run, webSocket, id } = this.#options
    if (this.#closed.signal.aborted) return
    const declaration = findDeclaration()
    if (declaration === undefined) return webSocket.close(closeCodes.goingAway, 'the app is no longer served')
    try {
      await services.inFlight.run(() => run(this.#closed.signal, (ctx) => work(declaration, ctx)))
    } catch (error) {
      await this.#send(JSON.stringify({ error: toErrorObject(toClientError(error, services.log, id)) }))
    }
  }

  /** Resolves even if the client has disconnected. */
  #send(text: string): Promise<void> {
    const { webSocket } = this.#options
    if (webSocket.bufferedAmount > maxUnreadBytes) webSocket.terminate()
    if (webSocket.readyState !== webSocket.OPEN) return Promise.resolve()
    return new Promise((resolve) => webSocket.send(text, () => resolve()))
  }

  #ping(): void {
    const { webSocket } = this.#options
    if (this.#isAlive || this.#pendingCount > 0) webSocket.ping()
    else webSocket.terminate()
    this.#isAlive = false
  }
}
