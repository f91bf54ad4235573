/** One WebSocket connection: its frames one after the other to the app, the app's frames back, and how it ends. */
import type { AppSocket, ChannelContext, Socket, Variables } from '@causeway/app-kit'
import { CausewayError, errorObject } from '@causeway/protocol'
import type { RawData, WebSocket } from 'ws'
import { protocolDetail } from '../log.ts'
import { tellable } from './failure.ts'
import { mostUnread } from './web.ts'
import type { Wiring } from './wiring.ts'

/** What a connection is made of. */
export interface SocketPeerOptions {
  readonly wiring: Wiring
  readonly id: string
  readonly variables: Variables
  readonly webSocket: WebSocket
  /** The declaration as it is now: a user app may have been loaded again, or have gone. */
  declared(): AppSocket | undefined
  /** Runs one step of the conversation with the context of a call. */
  run(signal: AbortSignal, work: (ctx: ChannelContext) => Promise<void>): Promise<void>
}

/** Close codes (https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1). */
const closing = { normal: 1000, goingAway: 1001, unsupportedData: 1003, policy: 1008 }

/** A connection; `open` runs the app's greeting and begins to read. */
export class SocketPeer {
  readonly #options: SocketPeerOptions
  readonly #end = new AbortController()
  readonly #socket: Socket
  readonly #keepAlive: NodeJS.Timeout
  /** The frames that were taken from the wire and are not answered yet; one step follows the other. */
  #steps: Promise<void> = Promise.resolve()
  #waiting = 0
  #isAlive = true

  constructor(options: SocketPeerOptions) {
    const { id, variables, webSocket, wiring } = options
    this.#options = options
    this.#socket = {
      id,
      variables,
      signal: this.#end.signal,
      send: (text) => this.#send(text),
      close: (reason) => webSocket.close(closing.normal, reason),
    }
    this.#keepAlive = setInterval(() => this.#ping(), wiring.keepAliveMs).unref()
    webSocket.on('pong', () => {
      this.#isAlive = true
    })
    webSocket.on('message', (data, isBinary) => this.#take(data, isBinary))
    // What ws reports here it has told the client by a close code: a frame too large, text that is not UTF-8.
    webSocket.on('error', (err) => protocolDetail(wiring.log, { err, socket: id }, 'a socket failed'))
    webSocket.on('close', () => this.#ended())
  }

  /** Greets the client. */
  open(): void {
    this.#step(async (declared, ctx) => declared.open(this.#socket, ctx))
  }

  /** Tells the client that the server goes away; resolves when the connection has ended, by force after the time. */
  async close(withinMs: number): Promise<void> {
    const { webSocket } = this.#options
    if (webSocket.readyState === webSocket.CLOSED) return
    const gone = new Promise<void>((resolve) => webSocket.once('close', () => resolve()))
    webSocket.close(closing.goingAway, 'the server is stopping')
    const late = setTimeout(() => webSocket.terminate(), withinMs)
    await gone
    clearTimeout(late)
  }

  /** Ends the connection of a client whose token is no longer taken. */
  refuse(): void {
    this.#options.webSocket.close(closing.policy, 'the token is no longer taken')
  }

  #take(data: RawData, isBinary: boolean): void {
    const { webSocket } = this.#options
    const text = data.toString()
    if (isBinary) webSocket.close(closing.unsupportedData, 'text frames only')
    else this.#step((declared, ctx) => declared.message(text, this.#socket, ctx))
  }

  /** Whoever sends faster than it is answered is read no further until the answers are out. */
  #step(work: (declared: AppSocket, ctx: ChannelContext) => Promise<void>): void {
    const { webSocket } = this.#options
    this.#waiting += 1
    webSocket.pause()
    this.#steps = this.#steps.then(async () => {
      await this.#run(work)
      this.#waiting -= 1
      if (this.#waiting > 0) return
      // Nothing was read meanwhile, the answer to a ping neither.
      this.#isAlive = true
      webSocket.resume()
    })
  }

  async #run(work: (declared: AppSocket, ctx: ChannelContext) => Promise<void>): Promise<void> {
    const { wiring, declared: find, run, webSocket, id } = this.#options
    if (this.#end.signal.aborted) return
    const declared = find()
    if (declared === undefined) return webSocket.close(closing.goingAway, 'the app is no longer served')
    try {
      await wiring.inflight.run(() => run(this.#end.signal, (ctx) => work(declared, ctx)))
    } catch (error) {
      await this.#send(JSON.stringify({ error: errorObject(tellable(error, wiring.log, id)) }))
    }
  }

  #send(text: string): Promise<void> {
    const { webSocket } = this.#options
    if (webSocket.bufferedAmount > mostUnread) webSocket.terminate()
    if (webSocket.readyState !== webSocket.OPEN) return Promise.resolve()
    // A client that has gone meanwhile misses the frame and nothing else.
    return new Promise((resolve) => webSocket.send(text, () => resolve()))
  }

  /** A client that did not answer the last ping is gone, though its connection is not. */
  #ping(): void {
    const { webSocket } = this.#options
    if (this.#isAlive || this.#waiting > 0) webSocket.ping()
    else webSocket.terminate()
    this.#isAlive = false
  }

  #ended(): void {
    clearInterval(this.#keepAlive)
    this.#end.abort(new CausewayError('CANCELLED', 'the client closed the socket'))
  }
}
