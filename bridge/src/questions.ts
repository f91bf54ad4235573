import { type Id, isObject, type Params } from '@causeway/protocol'
import { type Envelope, withId } from './envelope.ts'
import type { Incoming } from './message.ts'
import { parsed } from './parsed.ts'

/**
 * What the server asks the client, as for its roots. A new session may begin its ids anew while the client still
 * thinks about a question of the one before; its answer must not be taken for one to the new question.
 */
export interface Questions {
  /** A message of the server as the client gets it: a question gets an id of ours where its own is still taken. */
  toClient(bytes: Buffer, envelope: Envelope): Buffer
  /** An answer of the client as the server gets it; undefined where the session that asked is gone. */
  toServer(answer: Incoming): Buffer | undefined
  /** The session is gone, and its questions with it: the notifications that take them back from the client. */
  drop(): Buffer[]
}

/** A question that the client was asked and has not answered. */
interface Asked {
  /** The id that the server gave it. */
  readonly id: Id
  /** The id that the client knows it by. */
  readonly shown: Id
  /** The session that asked is gone. */
  isLost: boolean
}

/** Questions that are remembered; beyond them the oldest is forgotten, and its answer passes as it comes. */
const maxAsked = 1000

const keyOf = (id: Id): string => JSON.stringify(id)

const cancelled = (params: Params): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))

export function createQuestions(): Questions {
  const asked = new Map<string, Asked>()
  let renamed = 0

  const ask = (bytes: Buffer, id: Id): Buffer => {
    // The same question may come twice where its stream was taken up again.
    const before = [...asked.values()].find((one) => one.id === id && !one.isLost)
    const shown = before?.shown ?? (asked.has(keyOf(id)) ? `causeway-question-${++renamed}` : id)
    asked.set(keyOf(shown), { id, shown, isLost: false })
    const [oldest] = asked.keys()
    if (asked.size > maxAsked && oldest !== undefined) asked.delete(oldest)
    return shown === id ? bytes : withId(bytes, shown)
  }

  /** The server takes a question back by its own id. */
  const takeBack = (bytes: Buffer): Buffer => {
    const { method, params } = (parsed(bytes) ?? {}) as { method?: unknown; params?: Params }
    if (method !== 'notifications/cancelled' || !isObject(params)) return bytes
    const one = [...asked.values()].find(({ id, isLost }) => id === params.requestId && !isLost)
    if (one === undefined || one.shown === one.id) return bytes
    // Anything else in it may be nested more deeply than can be written.
    const { reason } = params
    return cancelled({ requestId: one.shown, ...(typeof reason === 'string' && { reason }) })
  }

  return {
    toClient(bytes, { kind, id }) {
      if (kind === 'notification' && renamed > 0) return takeBack(bytes)
      return kind === 'request' && id !== null ? ask(bytes, id) : bytes
    },
    toServer({ bytes, id }) {
      const one = id === null ? undefined : asked.get(keyOf(id))
      if (one === undefined) return bytes
      asked.delete(keyOf(one.shown))
      if (one.isLost) return undefined
      return one.shown === one.id ? bytes : withId(bytes, one.id)
    },
    drop() {
      const open = [...asked.values()].filter(({ isLost }) => !isLost)
      for (const one of open) one.isLost = true
      return open.map(({ shown }) =>
        cancelled({ requestId: shown, reason: 'the session that asked is gone' }),
      )
    },
  }
}
