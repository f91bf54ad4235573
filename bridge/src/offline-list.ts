import { claimedVersion, kindOf, type Request, success } from '@causeway/protocol'
import { canonical } from './canonical.ts'
import type { OfflineStore, Remembered } from './offline-store.ts'
import { parsed } from './parsed.ts'
import type { Stage } from './stage.ts'

/** Where an answer of the last time says when it came. */
export const staleMetaKey = 'causeway/stale'

/** The lists that a client fetches at its start, and what tells it to fetch them again. */
const lists: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
}
const remembered = new Set(['initialize', 'server/discover', ...Object.keys(lists)])

/** A request whose answer is kept, and may be stood in for. */
interface Asked {
  readonly line: Buffer
  readonly request: Request
  readonly key: string
  timer?: NodeJS.Timeout
  /** The client has been answered from the last time. */
  stoodIn: boolean
  /** The bridge asks again by itself. */
  readonly isRepeat: boolean
}

/** The part of a response that decides. */
interface Answer {
  readonly result?: object
  readonly error?: { readonly data?: { readonly code?: unknown } }
}

interface Parts {
  readonly store: OfflineStore
  /** So long the server may take before the last answer stands in, in milliseconds. */
  readonly patienceMs: number
  /** The pause before an `initialize` that failed is sent again, in milliseconds. */
  readonly retryMs: number
}

/**
 * Answers the handshake and the lists as they were the last time while the server is away or slow. The real answer,
 * when it comes, is kept for the next time, and a legacy client is told which lists to fetch again. A client of the
 * stateless era gets lists that may be kept for no time at all.
 */
export function offlineList({ store, patienceMs, retryMs }: Parts): Stage {
  const waiting = new Map<string, Asked>()
  let initialized: Buffer | undefined

  return ({ toServer, toClient }) => {
    const standIn = (asked: Asked, last: Remembered): void => {
      clearTimeout(asked.timer)
      asked.stoodIn = true
      toClient(Buffer.from(JSON.stringify(success(asked.request.id, staled(last)))))
    }
    const ask = (line: Buffer, request: Request, isRepeat: boolean): void => {
      const asked: Asked = { line, request, key: keyOf(request), stoodIn: isRepeat, isRepeat }
      waiting.set(JSON.stringify(request.id), asked)
      const last = store.get(asked.key)
      if (last !== undefined && !isRepeat)
        asked.timer = setTimeout(() => standIn(asked, last), patienceMs).unref()
      toServer(line)
    }
    const notify = (list: string): void =>
      toClient(Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` })))

    /** A server that was away has answered after all. */
    const welcomeBack = ({ request, isRepeat }: Asked, hasChanged: boolean, result: object): void => {
      if (request.method === 'initialize') {
        // The client's own went to a server that was not there.
        if (isRepeat && initialized !== undefined) toServer(initialized)
        const { capabilities = {} } = result as { capabilities?: object }
        for (const list of new Set(Object.values(lists))) if (list in capabilities) notify(list)
      } else if (hasChanged && claimedVersion(request) === undefined) notify(lists[request.method] ?? 'tools')
    }

    /** True where the client gets nothing more, as it was answered or is now. */
    const settle = (asked: Asked, answer: Answer): boolean => {
      clearTimeout(asked.timer)
      if (answer.result !== undefined) {
        const hasChanged = store.put(asked.key, answer.result)
        if (asked.stoodIn) welcomeBack(asked, hasChanged, answer.result)
        return asked.stoodIn
      }
      const last = store.get(asked.key)
      if (!asked.stoodIn && last !== undefined && isUnreachable(answer)) standIn(asked, last)
      if (asked.stoodIn && asked.request.method === 'initialize')
        setTimeout(() => ask(asked.line, asked.request, true), retryMs).unref()
      return asked.stoodIn
    }

    /** Who has cancelled gets nothing more, also not from the last time. */
    const forget = (id: unknown): void => {
      const asked = waiting.get(JSON.stringify(id))
      if (asked === undefined || asked.request.method === 'initialize') return
      clearTimeout(asked.timer)
      waiting.delete(JSON.stringify(id))
    }

    return {
      toServer(line) {
        const value = parsed(line)
        const { method, params } = (value ?? {}) as { method?: string; params?: { requestId?: unknown } }
        if (method === 'notifications/cancelled') forget(params?.requestId)
        if (method === 'notifications/initialized') initialized = line
        if (kindOf(value) === 'request' && remembered.has(String(method))) ask(line, value as Request, false)
        else toServer(line)
      },
      toClient(json) {
        const value = waiting.size === 0 ? undefined : parsed(json)
        const id = kindOf(value) === 'response' ? JSON.stringify((value as { id: unknown }).id) : ''
        const asked = waiting.get(id)
        waiting.delete(id)
        if (asked === undefined || !settle(asked, value as Answer)) toClient(json)
      },
    }
  }
}

/** What makes two requests the same: era, method and page; of a handshake the version. */
function keyOf(request: Request): string {
  const { cursor, protocolVersion } = (request.params ?? {}) as {
    cursor?: unknown
    protocolVersion?: unknown
  }
  return canonical([claimedVersion(request) ?? null, request.method, cursor ?? null, protocolVersion ?? null])
}

const staled = ({ result, at }: Remembered): object => ({
  ...result,
  ...('ttlMs' in result && { ttlMs: 0 }),
  _meta: { ...(result._meta as object | undefined), [staleMetaKey]: { since: at } },
})

const isUnreachable = (answer: Answer): boolean => answer.error?.data?.code === 'SERVER_UNREACHABLE'
