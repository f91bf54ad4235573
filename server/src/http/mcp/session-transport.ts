import { randomUUID } from 'node:crypto'
import type { Cache } from '@causeway/app-kit'
import { CausewayError, headers, type Request } from '@causeway/protocol'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import { getOwner } from '../../access/access.ts'
import type { OpenSession, OpenSessions } from '../../activity/open-sessions.ts'
import type { Change, Mount } from '../../registry/mount.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { completeInitialize } from './initialize.ts'
import { Session } from './session.ts'
import type { Transport } from './transport.ts'

/** Sessions that were used within this time are not evicted. */
const minIdleMs = 10_000

/** Serves MCP 2025-03-26 to 2025-11-25, and older clients that send `initialize` here. */
export class SessionTransport implements Transport, OpenSessions {
  readonly #services: HttpServices
  readonly #sessions = new Map<string, Session>()
  readonly #restorations = new Map<string, Promise<Session | undefined>>()
  readonly #idleTimer: NodeJS.Timeout

  constructor(services: HttpServices) {
    this.#services = services
    this.#idleTimer = setInterval(() => this.#closeIdle(), services.sessionIdleMs / 2).unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  list(): readonly OpenSession[] {
    return [...this.#sessions.values()].map((session) => ({
      session: this.#getName(session),
      client: session.initialize.clientInfo.name,
      client_version: session.initialize.clientInfo.version,
      protocol_version: session.initialize.protocolVersion,
      mount: session.mount.path,
      open_streams: session.openStreams,
    }))
  }

  async end(name: string): Promise<boolean> {
    const session = [...this.#sessions.values()].find((candidate) => this.#getName(candidate) === name)
    if (session === undefined) return false
    await this.#services.core.store.handshakes.delete(session.id)
    this.#services.core.hosted.gateway.endClient(session.clientKey)
    await session.close()
    return true
  }

  async open(exchange: Exchange): Promise<void> {
    const request = exchange.request.body as Request
    const initialize = completeInitialize(request.params ?? {})
    const body = { ...request, params: initialize }
    if (!isInitializeRequest(body))
      throw new CausewayError(
        'INVALID_PARAMS',
        'the capabilities of initialize are not of the form that MCP gives',
      )
    const { mount, access } = exchange
    const owner = getOwner(access)
    const session = this.#create({ id: randomUUID(), owner, mount, initialize, subscriptions: [] })
    await session.open()
    await this.#add(session)
    await session.handle(exchange, body)
  }

  async handle(exchange: Exchange): Promise<void> {
    const session = await this.find(exchange)
    const { request } = exchange
    if (session === undefined)
      throw new CausewayError('METHOD_NOT_ALLOWED', `${request.method} needs a session`, {
        data: { allow: ['POST'] },
        remedy: 'send Mcp-Session-Id, which the answer to initialize carries',
      })
    if (!this.#services.toolLists.respond(exchange, 'legacy')) await session.handle(exchange)
  }

  /** Also finds sessions from before a restart. Throws `SESSION_NOT_FOUND` for an unknown id and for another mount or owner. */
  async find({ request, mount, access }: Exchange): Promise<Session | undefined> {
    const id = request.headers[headers.sessionId]
    if (typeof id !== 'string') return undefined
    const owner = getOwner(access)
    const session = this.#sessions.get(id) ?? (await this.#restoreOnce(id, mount, owner))
    if (session?.mount.path === mount.path && session.owner === owner) return session
    throw new CausewayError('SESSION_NOT_FOUND', 'the session is unknown or has ended')
  }

  notify(change: Change): void {
    for (const session of this.#sessions.values()) session.notify(change)
  }

  get cache(): Cache {
    return {
      name: 'sessions',
      // Evicted after all other caches.
      costMs: 2000,
      isInHeap: true,
      maxBytes: 128 * 1024 ** 2,
      bytes: () => [...this.#sessions.values()].reduce((sum, { bytes }) => sum + bytes, 0),
      shrink: (bytes) => this.#evict(bytes),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#idleTimer)
    await Promise.all([...this.#sessions.values()].map((session) => session.close()))
  }

  #getName({ clientKey }: Session): string {
    return this.#services.core.audit.getSessionName(clientKey)
  }

  #create(
    options: Pick<Session, 'id' | 'owner' | 'mount' | 'initialize'> & { subscriptions: readonly string[] },
  ) {
    return new Session({
      ...options,
      services: this.#services,
      onClose: (session) => {
        if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id)
      },
    })
  }

  async #add(session: Session): Promise<void> {
    if (this.#sessions.size >= this.#services.maxSessions) {
      const [oldestSession] = [...this.#sessions.values()].sort((a, b) => a.lastUsedMs - b.lastUsedMs)
      await oldestSession?.close()
    }
    this.#sessions.set(session.id, session)
  }

  /** Concurrent requests of one owner share a restoration. */
  #restoreOnce(id: string, mount: Mount, owner: string): Promise<Session | undefined> {
    const key = `${owner} ${mount.path} ${id}`
    const restoration =
      this.#restorations.get(key) ??
      this.#restore(id, mount, owner).finally(() => this.#restorations.delete(key))
    this.#restorations.set(key, restoration)
    return restoration
  }

  async #restore(id: string, mount: Mount, owner: string): Promise<Session | undefined> {
    const saved = await this.#services.core.store.handshakes.find(id, owner)
    if (saved === undefined || saved.mountPath !== mount.path) return undefined
    const initialize = completeInitialize(saved.initialize)
    const session = this.#create({ id, owner, mount, initialize, subscriptions: saved.subscriptions })
    await session.restore()
    await this.#add(session)
    return session
  }

  #closeIdle(): void {
    const { sessionIdleMs, core, log } = this.#services
    for (const session of [...this.#sessions.values()]) {
      const isIdle = session.lastUsedMs < Date.now() - sessionIdleMs
      // `find` renews the handshake.
      const closedOrRenewed = isIdle ? session.close() : core.store.handshakes.find(session.id, session.owner)
      closedOrRenewed.catch((err: unknown) => log.warn({ err }, 'a session could not be closed or renewed'))
    }
  }

  async #evict(bytes: number): Promise<number> {
    const maxLastUsedMs = Date.now() - minIdleMs
    const idleSessions = [...this.#sessions.values()].filter(({ lastUsedMs }) => lastUsedMs < maxLastUsedMs)
    let evictedBytes = 0
    for (const session of idleSessions.sort((a, b) => a.lastUsedMs - b.lastUsedMs)) {
      if (evictedBytes >= bytes) break
      evictedBytes += session.bytes
      await session.close()
    }
    return evictedBytes
  }
}
