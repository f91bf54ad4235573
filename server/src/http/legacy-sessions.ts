/** The sessions of clients that opened with `initialize`: found by id, revived after a restart, put away when idle. */
import { CausewayError, type Request as RpcRequest } from '@causeway/protocol'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import type { ListKind, Mount } from '../core.ts'
import { getOwner } from '../domain/access.ts'
import type { Turn } from './exchange.ts'
import { initializeParams } from './handshake.ts'
import { LegacySession } from './legacy-session.ts'
import type { Wiring } from './wiring.ts'

/** Where and by whom a session was opened. */
export interface SessionPlace {
  readonly mount: Mount
  readonly owner: string
}

/** The leg over all mounts. */
export interface LegacySessions {
  /** Opens a session by the client's `initialize` and answers it. */
  initialize(turn: Turn): Promise<void>
  /** Returns the session of an id; throws `SESSION_NOT_FOUND` if it is unknown, of another mount or of another owner. */
  find(id: string, place: SessionPlace): Promise<LegacySession>
  listChanged(mount: Mount, kind: ListKind): void
  resourceChanged(uri: string): void
  /** Sessions in memory. */
  readonly size: number
  /** Their bytes; those that have neither a request nor a stream open are put away, the longest unused first. */
  readonly memory: { bytes(): number; shrink(bytes: number): Promise<number> }
  /** Ends every session's streams and calls; handshakes are kept. */
  close(): Promise<void>
}

/** A session that was used within this time stays, ms. */
const inUseMs = 10_000

/** Makes the leg, without sessions. A session that leaves the memory comes back with its next message. */
export function legacySessions(wiring: Wiring): LegacySessions {
  const { core, log, now, newId, maxSessions, sessionIdleMs } = wiring
  const sessions = new Map<string, LegacySession>()
  const reviving = new Map<string, Promise<LegacySession | undefined>>()

  const onClose = (session: LegacySession): void => {
    if (sessions.get(session.id) === session) sessions.delete(session.id)
  }

  const add = async (session: LegacySession): Promise<void> => {
    if (sessions.size >= maxSessions) await leastRecent(sessions.values())?.close()
    sessions.set(session.id, session)
  }

  const revive = async (id: string, { mount, owner }: SessionPlace): Promise<LegacySession | undefined> => {
    const saved = await core.handshakes.find(id, owner)
    if (saved === undefined || saved.mountPath !== mount.path) return undefined
    const session = new LegacySession({
      wiring,
      id,
      owner,
      mount,
      initialize: initializeParams(saved.initialize),
      subscriptions: saved.subscriptions,
      onClose,
    })
    await session.revive()
    await add(session)
    return session
  }

  /** Requests that come together after a restart share one revival. */
  const reviveOnce = (id: string, place: SessionPlace): Promise<LegacySession | undefined> => {
    // A caller that may not have the session must not make one that may wait for its failure.
    const key = `${place.owner} ${place.mount.path} ${id}`
    const started = reviving.get(key) ?? revive(id, place).finally(() => reviving.delete(key))
    reviving.set(key, started)
    return started
  }

  const putAwayIdle = (): void => {
    const before = now() - sessionIdleMs
    for (const session of [...sessions.values()]) {
      // Finding the handshake counts as its use: what lives in memory must not expire in the data file.
      const step = session.usedMs < before ? session.close() : core.handshakes.find(session.id, session.owner)
      step.catch((err: unknown) => log.warn({ err }, 'a session could not be put away'))
    }
  }
  const timer = setInterval(putAwayIdle, sessionIdleMs / 2).unref()

  return {
    async initialize(turn) {
      const asked = turn.request.body as RpcRequest // the router has seen that it is one
      const initialize = initializeParams(asked.params ?? {})
      const body = { ...asked, params: initialize }
      if (!isInitializeRequest(body))
        throw new CausewayError(
          'INVALID_PARAMS',
          'the capabilities of initialize are not of the form that MCP gives',
        )
      const { mount } = turn.exchange
      const session = new LegacySession({
        wiring,
        id: newId(),
        owner: getOwner(turn.exchange.access),
        mount,
        initialize,
        subscriptions: [],
        onClose,
      })
      await session.open()
      await add(session)
      await session.answer(turn, body)
    },
    async find(id, place) {
      const session = sessions.get(id) ?? (await reviveOnce(id, place))
      const isFound = session?.mount.path === place.mount.path && session.owner === place.owner
      if (isFound) return session
      throw new CausewayError('SESSION_NOT_FOUND', 'the session is unknown or has ended')
    },
    listChanged(mount, kind) {
      for (const session of sessions.values())
        if (session.mount.path === mount.path) session.listChanged(kind)
    },
    resourceChanged(uri) {
      for (const session of sessions.values()) session.resourceChanged(uri)
    },
    get size() {
      return sessions.size
    },
    memory: {
      bytes: () => [...sessions.values()].reduce((sum, { bytes }) => sum + bytes, 0),
      async shrink(bytes) {
        const idle = [...sessions.values()].filter(({ usedMs }) => usedMs < now() - inUseMs)
        let given = 0
        for (const session of idle.sort((a, b) => a.usedMs - b.usedMs)) {
          if (given >= bytes) break
          given += session.bytes
          await session.close()
        }
        return given
      },
    },
    async close() {
      clearInterval(timer)
      await Promise.all([...sessions.values()].map((session) => session.close()))
    },
  }
}

const leastRecent = (sessions: Iterable<LegacySession>): LegacySession | undefined =>
  [...sessions].reduce<LegacySession | undefined>(
    (least, one) => (least === undefined || one.usedMs < least.usedMs ? one : least),
    undefined,
  )
