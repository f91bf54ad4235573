import type { IncomingMessage, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { CausewayError } from '@causeway/protocol'

interface Upload {
  readonly request: IncomingMessage
  readonly fail: (error: CausewayError) => void
  bytesRead: number
  progressMs: number
}

/** Rejects bodies without progress. A slow body may take any amount of time. */
export class StalledBodies {
  readonly #timeoutMs: number
  readonly #now: () => number
  #checkedMs: number
  readonly #timer: NodeJS.Timeout | undefined
  /** Keyed by socket: an HTTP/1.1 connection carries one body at a time. */
  readonly #uploads = new Map<Socket, Upload>()

  /** A timeout of 0 disables the check. `now`: monotonic milliseconds. */
  constructor({ timeoutMs, now = () => performance.now() }: { timeoutMs: number; now?: () => number }) {
    this.#timeoutMs = timeoutMs
    this.#now = now
    this.#checkedMs = now()
    if (timeoutMs > 0) this.#timer = setInterval(() => this.check(), getCheckIntervalMs(timeoutMs)).unref()
  }

  watch(request: IncomingMessage, fail: Upload['fail']): void {
    if (this.#timer === undefined || request.complete) return
    const { socket } = request
    this.#uploads.set(socket, { request, fail, bytesRead: socket.bytesRead, progressMs: this.#now() })
  }

  /**
   * Restarts every timeout after a late check (blocked event loop, suspended process), because received bytes may be
   * unread.
   */
  check(): void {
    const now = this.#now()
    const isCheckLate = now - this.#checkedMs > 2 * getCheckIntervalMs(this.#timeoutMs)
    this.#checkedMs = now
    for (const [socket, upload] of this.#uploads) {
      const { request } = upload
      // Unread bytes mean that the server is slow.
      const isProgressing = socket.bytesRead !== upload.bytesRead || request.readableLength > 0
      if (request.complete || socket.destroyed) this.#uploads.delete(socket)
      else if (isProgressing || isCheckLate)
        Object.assign(upload, { bytesRead: socket.bytesRead, progressMs: now })
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

/** A timeout is detected late by up to this interval. */
const getCheckIntervalMs = (timeoutMs: number): number => Math.min(1000, Math.max(10, timeoutMs / 4))

/** Limits Node's own timeout to headers. */
export const createHeaderTimeout = (timeoutMs: number): ServerOptions => ({
  headersTimeout: timeoutMs,
  requestTimeout: 0,
  connectionsCheckingInterval: timeoutMs > 0 ? getCheckIntervalMs(timeoutMs) : 30_000,
})
