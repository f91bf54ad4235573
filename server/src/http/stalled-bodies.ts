/** Ends requests whose body stops arriving, so that they don't occupy connections and slots. */
import type { IncomingMessage, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { CausewayError } from '@causeway/protocol'

/** A request whose body has not arrived completely. */
interface Upload {
  readonly request: IncomingMessage
  /** Responds with the error, or closes the connection. */
  readonly fail: (error: CausewayError) => void
  /** Bytes that the connection had received at the last check. */
  bytesRead: number
  /** When the last progress was seen, in milliseconds of the clock. */
  progressMs: number
}

/** Options of `StalledBodies`. */
export interface StalledBodiesOptions {
  /** Milliseconds without progress; 0 disables the check. */
  readonly timeoutMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
}

/** Detects bodies that make no progress. A slow body that keeps arriving may take any time. */
export class StalledBodies {
  readonly #timeoutMs: number
  readonly #now: () => number
  /** When the last check ran, in milliseconds of the clock. */
  #checkedMs: number
  readonly #timer: NodeJS.Timeout | undefined
  /** The latest request of each connection: HTTP/1.1 carries one body at a time. */
  readonly #uploads = new Map<Socket, Upload>()

  constructor({ timeoutMs, now = () => performance.now() }: StalledBodiesOptions) {
    this.#timeoutMs = timeoutMs
    this.#now = now
    this.#checkedMs = now()
    if (timeoutMs > 0) this.#timer = setInterval(() => this.check(), checkIntervalMs(timeoutMs)).unref()
  }

  /** Watches the body of a request, which may have none. */
  watch(request: IncomingMessage, fail: Upload['fail']): void {
    if (this.#timer === undefined || request.complete) return
    const { socket } = request
    this.#uploads.set(socket, { request, fail, bytesRead: socket.bytesRead, progressMs: this.#now() })
  }

  /**
   * Fails every body that has stalled for the timeout. If the check itself is late, because the event loop was blocked or
   * the process was suspended, received bytes may be unread, and the timeout of every body starts again.
   */
  check(): void {
    const now = this.#now()
    const isLate = now - this.#checkedMs > 2 * checkIntervalMs(this.#timeoutMs)
    this.#checkedMs = now
    for (const [socket, upload] of this.#uploads) {
      const { request } = upload
      // Bytes that have arrived and wait to be read are the server's delay, not the client's.
      const isMoving = socket.bytesRead !== upload.bytesRead || request.readableLength > 0
      if (request.complete || socket.destroyed) this.#uploads.delete(socket)
      else if (isMoving || isLate) Object.assign(upload, { bytesRead: socket.bytesRead, progressMs: now })
      else if (now - upload.progressMs >= this.#timeoutMs) {
        this.#uploads.delete(socket)
        upload.fail(
          new CausewayError('REQUEST_TIMEOUT', `no part of the body arrived for ${this.#timeoutMs} ms`, {
            data: { timeout_ms: this.#timeoutMs },
          }),
        )
      }
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** A timeout fires at most this much late. */
const checkIntervalMs = (timeoutMs: number): number => Math.min(1000, Math.max(10, timeoutMs / 4))

/** Options of Node's servers: headers must be complete within the timeout, and bodies may take any time. */
export const headerTimeout = (timeoutMs: number): ServerOptions => ({
  headersTimeout: timeoutMs,
  requestTimeout: 0,
  connectionsCheckingInterval: timeoutMs > 0 ? checkIntervalMs(timeoutMs) : 30_000,
})
