import { CausewayError } from '@causeway/protocol'
import { type Asked, ask } from '../ask.ts'
import type { Connections } from '../connections.ts'
import { type Fields, messageFields, sessionFields } from '../headers.ts'
import { type Incoming, readLine } from '../message.ts'
import { createReplyReader, type Reply } from '../reply.ts'
import { targetOf } from '../target.ts'
import { createUpstream, type Upstream } from '../upstream.ts'

/** The session that a message belongs to, and header fields of its own. */
export interface Within {
  readonly fields?: Fields
  readonly sessionId?: string
  readonly version?: string
}

/** What the doctor asks the server. Each rejects with the error of the connection, or after a deadline. */
export interface Probe {
  /** A plain GET of another path of the same server. */
  get(path: string): Promise<Reply>
  /** One JSON-RPC request. */
  rpc(method: string, params: object, within?: Within): Promise<Asked>
  /** One JSON-RPC notification. */
  tell(method: string, within: Within): Promise<Asked>
  /** Ends a session. */
  leave(sessionId: string): Promise<void>
  close(): Promise<void>
}

/** A server that is well answers a handshake within a second. */
const deadlineMs = 10_000
const bodyLimit = 1024 * 1024

export function createProbe(url: URL, connections: Connections, fields: () => Fields): Probe {
  const flow = { gathered: () => {}, ended: () => {} }
  const upstreamTo = (to: URL): Upstream =>
    createUpstream({ url: to, connections, fields, flow, onAnswer: () => {} })
  const upstream = upstreamTo(url)
  const say = (value: object, { fields: own = {}, sessionId: id, version }: Within): Promise<Asked> => {
    const bytes = Buffer.from(JSON.stringify(value))
    const [line] = readLine(bytes) as [{ type: 'message'; message: Incoming }]
    return inTime(ask(upstream, { ...messageFields(line.message, { id, version }), ...own }, bytes))
  }
  return {
    async get(path) {
      const reader = createReplyReader(bodyLimit, () => {})
      await inTime(upstreamTo(siblingOf(url, path)).listen({ accept: 'application/json' }, reader).done)
      return reader.reply() as Reply
    },
    rpc: (method, params, within = {}) => say({ jsonrpc: '2.0', id: 'doctor', method, params }, within),
    tell: (method, within) => say({ jsonrpc: '2.0', method }, within),
    async leave(sessionId) {
      const reader = createReplyReader(0, () => {})
      await inTime(upstream.remove(sessionFields({ id: sessionId, version: undefined }), reader).done)
    },
    close: upstream.destroy,
  }
}

function siblingOf(url: URL, path: string): URL {
  const { socketPath } = targetOf(url)
  return socketPath === undefined ? new URL(path, url) : new URL(`unix:${socketPath}:${path}`)
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const error = new CausewayError('DEADLINE_EXCEEDED', `no answer within ${deadlineMs / 1000} s`)
    timer = setTimeout(() => reject(error), deadlineMs)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
