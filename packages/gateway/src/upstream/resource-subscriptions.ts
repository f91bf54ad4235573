import type { JsonObject } from '@causeway/protocol'
import type { ServerDescription } from '../domain/catalogue.ts'
import type { Connection } from './connection.ts'
import { readRpcError } from './upstream-error.ts'

const minRenewMs = 1000
const maxRenewMs = 5 * 60_000
/** A stream that lasts longer resets the renewal delay. */
const minStableMs = 30_000

/** Resources that clients subscribe to, each with one upstream subscription. */
export class ResourceSubscriptions {
  readonly #countByUri = new Map<string, number>()
  #connection: Connection | undefined
  #capabilities: JsonObject = {}
  /** Ends the open `subscriptions/listen`. */
  #listenController = new AbortController()
  #renewTimer: NodeJS.Timeout | undefined
  #renewDelayMs = minRenewMs
  readonly #now: () => number

  /** `now` is monotonic, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#countByUri.size
  }

  add(uri: string): void {
    const count = this.#countByUri.get(uri) ?? 0
    this.#countByUri.set(uri, count + 1)
    if (count === 0) this.#send('resources/subscribe', uri)
  }

  remove(uri: string): void {
    const count = this.#countByUri.get(uri) ?? 0
    if (count > 1) return void this.#countByUri.set(uri, count - 1)
    if (this.#countByUri.delete(uri)) this.#send('resources/unsubscribe', uri)
  }

  use(connection: Connection, { capabilities }: ServerDescription): void {
    this.#connection = connection
    this.#capabilities = capabilities
    if (connection.isModern) this.#listen()
    else for (const uri of this.#countByUri.keys()) this.#send('resources/subscribe', uri)
  }

  #send(method: string, uri: string): void {
    const connection = this.#connection
    if (connection === undefined || connection.isClosed) return
    if (connection.isModern) this.#listen()
    // Updates are optional, so a server may reject subscriptions.
    else connection.request(method, { uri }).catch(() => {})
  }

  /** Replaces the request whose stream carries all notifications (MCP 2026-07-28). */
  #listen(): void {
    clearTimeout(this.#renewTimer)
    this.#listenController.abort(new Error('replaced'))
    this.#listenController = new AbortController()
    const { tools, prompts, resources } = this.#capabilities as Record<string, { listChanged?: unknown }>
    const notifications = {
      ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
      ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
      ...(this.size > 0 ? { resourceSubscriptions: [...this.#countByUri.keys()] } : {}),
    }
    if (Object.keys(notifications).length === 0) return
    const connection = this.#connection
    const { signal } = this.#listenController
    const startedAtMs = this.#now()
    const renew = (): void => {
      if (signal.aborted || connection?.isClosed !== false) return
      this.#renewDelayMs =
        this.#now() - startedAtMs > minStableMs ? minRenewMs : Math.min(2 * this.#renewDelayMs, maxRenewMs)
      this.#renewTimer = setTimeout(() => this.#listen(), this.#renewDelayMs).unref()
    }
    connection
      ?.request('subscriptions/listen', { notifications }, { signal })
      .then(renew, (error: unknown) => {
        // A JSON-RPC error means that the server does not support the request.
        if (readRpcError(error) === undefined) renew()
      })
  }
}
