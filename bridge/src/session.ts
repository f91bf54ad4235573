import type { IncomingHttpHeaders } from 'node:http'
import { CausewayError, headers as names } from '@causeway/protocol'
import type { AwaitServer } from './absence.ts'
import { statusError } from './answer.ts'
import { type Asked, ask, responseIn } from './ask.ts'
import type { Log } from './debug-log.ts'
import { messageFields, type SessionMark, sessionFields } from './headers.ts'
import type { Incoming } from './message.ts'
import type { Questions } from './questions.ts'
import { createReplyReader, type Reply } from './reply.ts'
import { isPassing, isStale, mayRepeat, retryAfterMs } from './retry.ts'
import type { Upstream } from './upstream.ts'
import type { Waiting } from './wait.ts'

/** The legacy session of this client on the server: opened by the client, reopened by the bridge. */
export interface Session {
  /** What each request of the session carries; empty before `initialize` was answered. */
  mark(): SessionMark
  /** Takes over what the server answered to the client's `initialize`. */
  adopt(initialize: Incoming, headers: IncomingHttpHeaders, result: unknown): void
  /** Keeps what must be said again to a new session: initialized, log level, subscriptions. */
  remember(message: Incoming): void
  /** True when this answer to a request with that mark says that the session is gone. */
  isDead(reply: Reply, used: SessionMark): boolean
  /**
   * Opens a new session by the kept handshake unless another call has done so, and waits for a server that is away or
   * busy as a call does; throws what stood in the way.
   */
  renew(dead: SessionMark): Promise<void>
  /**
   * What the client must be told after a renewal or return, each given out once: that lists changed, and which
   * questions are taken back.
   */
  takeNotices(): Buffer[]
  /** Notes that the server was away, so that its lists may have changed unheard. */
  noteReturn(): void
  /** Ends the session on the server, as well as that is possible. */
  close(): Promise<void>
}

/** More renewals than this in a minute, and the server is losing sessions as fast as they are made. */
const renewalsPerMinute = 5

interface Parts {
  readonly upstream: Upstream
  readonly questions: Questions
  /** Called when a session is ready: after the client said so, and after each renewal. */
  readonly onReady: () => void
  readonly startWaiting: () => Waiting
  readonly awaitServer: AwaitServer
  /** Milliseconds on any steady clock. */
  readonly now: () => number
  readonly log: Log
}

export function createSession(parts: Parts): Session {
  const { upstream, questions, onReady, startWaiting, awaitServer, now, log } = parts
  let mark: SessionMark = { id: undefined, version: undefined }
  let opening: Incoming | undefined
  let capabilities: readonly string[] = []
  let notices: Buffer[] = []
  let renewal: Promise<void> | undefined
  let renewals: number[] = []
  const kept = new Map<string, Incoming>()

  /** Says one message of a handshake, and again while the server is away or busy: each of them may come twice. */
  const say = async (message: Incoming, within: SessionMark, waiting: Waiting): Promise<Asked> => {
    for (let isFirst = true; ; isFirst = false)
      try {
        const asked = await ask(upstream, messageFields(message, within), message.bytes)
        if (!isPassing(asked.reply) || !(await waiting.pause(retryAfterMs(asked.reply)))) return asked
      } catch (error) {
        const { cause } = error as CausewayError // ask throws no other
        if (!mayRepeat(cause, { isSafe: true, wasWritten: true, wasAnswered: false })) throw error
        if (!(isFirst && isStale(cause))) await awaitServer(waiting, cause, isStale(cause))
      }
  }

  const remove = async ({ id, version }: SessionMark): Promise<void> => {
    const reader = createReplyReader(0, () => {})
    if (id !== undefined) await upstream.remove(sessionFields({ id, version }), reader).done
  }

  const enter = (initialize: Incoming, headers: IncomingHttpHeaders, result: unknown): void => {
    opening = initialize
    mark = markIn(headers, result)
    capabilities = changeable(result)
    log(`session ${mark.id ?? 'none'} version ${mark.version ?? 'unknown'}`)
  }

  const reopen = async (initialize: Incoming): Promise<void> => {
    renewals = renewals.filter((time) => now() - time < 60_000)
    if (renewals.length >= renewalsPerMinute)
      throw new CausewayError(
        'SESSION_NOT_FOUND',
        `the server ended ${renewalsPerMinute} sessions within a minute`,
        { remedy: 'see the log of the server; call again in a minute' },
      )
    const waiting = startWaiting()
    const { reply, response } = await say(initialize, mark, waiting)
    if (response === undefined) throw statusError(upstream.url, reply)
    if (!('result' in response))
      throw new CausewayError('SESSION_NOT_FOUND', 'the server refused to open a new session', {
        data: { error: response.error },
      })
    renewals.push(now())
    // Calls use the new session once it is as far as the old one was.
    const fresh = markIn(reply.headers, response.result)
    for (const message of kept.values()) await say(message, fresh, waiting)
    const before = capabilities
    enter(initialize, reply.headers, response.result)
    const takenBack = questions.drop()
    if (kept.has('initialized')) onReady()
    notices = [...takenBack, ...[...new Set([...before, ...capabilities])].map(listChanged)]
  }

  return {
    mark: () => mark,
    adopt(initialize, headers, result) {
      const before = mark
      kept.clear()
      enter(initialize, headers, result)
      if (before.id === undefined || before.id === mark.id) return
      // A client that begins anew leaves a session behind that only we can end; it need not hear what that takes back.
      questions.drop()
      void remove(before).catch((error: unknown) => log(`session not ended: ${error}`))
    },
    remember(message) {
      const { method, params } = message
      if (method === 'notifications/initialized') {
        kept.set('initialized', message)
        onReady()
      } else if (method === 'logging/setLevel') kept.set('level', message)
      else if (method === 'resources/subscribe') kept.set(`resource ${params.uri}`, message)
      else if (method === 'resources/unsubscribe') kept.delete(`resource ${params.uri}`)
    },
    isDead({ status, body }, used) {
      if (used.id === undefined || (status !== 404 && status !== 400)) return false
      const error = responseIn(body)?.error as { code?: unknown; message?: unknown } | undefined
      if (status === 404) return error?.code !== -32601
      return error?.code === -32001 || /\bsession\b/i.test(String(error?.message))
    },
    async renew(dead) {
      if (mark.id !== dead.id || opening === undefined) return
      renewal ??= reopen(opening).finally(() => {
        renewal = undefined
      })
      await renewal
    },
    takeNotices: () => notices.splice(0),
    noteReturn() {
      notices = capabilities.map(listChanged)
    },
    close: () => remove(mark),
  }
}

/** What an answer to `initialize` makes every later request carry. */
function markIn(headers: IncomingHttpHeaders, result: unknown): SessionMark {
  const id = headers[names.sessionId]
  const version = (result as { protocolVersion?: unknown } | null)?.protocolVersion
  return {
    id: typeof id === 'string' ? id : undefined,
    version: typeof version === 'string' && /^[\x21-\x7e]+$/.test(version) ? version : undefined,
  }
}

/** The lists of which the server says that they may change: `['tools', 'prompts']`. */
function changeable(result: unknown): string[] {
  const { capabilities } = (result ?? {}) as { capabilities?: unknown }
  const offered = (capabilities ?? {}) as Record<string, { listChanged?: unknown } | undefined>
  return ['tools', 'prompts', 'resources'].filter((list) => offered[list]?.listChanged === true)
}

const listChanged = (list: string): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` }))
