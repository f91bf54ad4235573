import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  asObject,
  classifyMessage,
  createFolder,
  findCacheFolder,
  getMachine,
  type JsonObject,
  type Request,
  readClaimedVersion,
} from '@causeway/protocol'
import type { Log } from '../lifecycle/debug-log.ts'
import { parseJson, stringify, toCanonicalJson } from '../stdio/json.ts'
import { createListChangedLine, createResultLine } from '../stdio/message.ts'
import type { MessageHandlers } from './stage.ts'

/** Key in `_meta` for the time of a stored result. */
export const staleMetaKey = 'causeway/stale'

const lists: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
}
const storedMethods = new Set(['initialize', 'server/discover', ...Object.keys(lists)])

interface StoredResult {
  readonly result: JsonObject
  /** ISO 8601. */
  readonly at: string
}

/** A server's last results, in a file. Ignores a corrupted file. */
export class OfflineStore {
  readonly #path: string
  readonly #log: Log
  readonly #results: Map<string, StoredResult>

  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
    this.#results = new Map(Object.entries(readResults(path)))
  }

  get(key: string): StoredResult | undefined {
    return this.#results.get(key)
  }

  /** Stores a result. Returns whether it has changed. */
  put(key: string, result: unknown): boolean {
    if (typeof result !== 'object' || result === null) return false
    if (toCanonicalJson(this.#results.get(key)?.result) === toCanonicalJson(result)) return false
    this.#results.set(key, { result: result as JsonObject, at: new Date().toISOString() })
    this.#save()
    return true
  }

  #save(): void {
    const temporaryPath = `${this.#path}.${process.pid}`
    try {
      createFolder(dirname(this.#path), 0o700)
      writeFileSync(temporaryPath, stringify(Object.fromEntries(this.#results)), { mode: 0o600 })
      // Other bridges may read the file at the same time.
      renameSync(temporaryPath, this.#path)
    } catch (error) {
      rmSync(temporaryPath, { force: true })
      this.#log(`cannot write the offline list: ${error}`)
    }
  }
}

function readResults(path: string): Readonly<Record<string, StoredResult>> {
  try {
    return asObject(parseJson(readFileSync(path))) as Readonly<Record<string, StoredResult>>
  } catch {
    return {}
  }
}

export function getOfflineStorePath(url: URL, env: NodeJS.ProcessEnv): string {
  const name = createHash('sha256').update(String(url)).digest('hex').slice(0, 16)
  return join(findCacheFolder(getMachine(env)), `offline-${name}.json`)
}

interface PendingRequest {
  readonly line: Buffer
  readonly request: Request
  readonly key: string
  /** Whether the bridge repeated the request after answering it from the store. */
  readonly isRetry: boolean
  isAnswered: boolean
  timer?: NodeJS.Timeout
}

/** Delay before a stored result replaces a missing response. */
const fallbackMs = 500

/** Delay before a failed `initialize` is repeated. */
const retryMs = 1000

/**
 * Answers the handshake and lists from the store if the server is unreachable or slow. When the server responds,
 * notifies legacy clients of changes. Stateless clients must not cache stored results.
 */
export class OfflineList implements MessageHandlers {
  readonly #next: MessageHandlers
  readonly #store: OfflineStore
  readonly #getPath: () => string
  readonly #pending = new Map<unknown, PendingRequest>()
  #initialized: Buffer | undefined

  /** `getPath` identifies the view, because lists differ between views. */
  constructor(next: MessageHandlers, store: OfflineStore, getPath: () => string) {
    this.#next = next
    this.#store = store
    this.#getPath = getPath
  }

  toServer(line: Buffer): void {
    const value = parseJson(line)
    const { method, params } = asObject(value)
    if (method === 'notifications/cancelled') this.#forget(asObject(params).requestId)
    if (method === 'notifications/initialized') this.#initialized = line
    if (classifyMessage(value) === 'request' && storedMethods.has(String(method)))
      this.#send(line, value as Request, false)
    else this.#next.toServer(line)
  }

  toClient(json: Buffer): void {
    const value = this.#pending.size === 0 ? undefined : parseJson(json)
    const id = classifyMessage(value) === 'response' ? asObject(value).id : undefined
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (pending === undefined || !this.#settle(pending, asObject(value))) this.#next.toClient(json)
  }

  #send(line: Buffer, request: Request, isRetry: boolean): void {
    const key = toRequestKey(request, this.#getPath())
    const pending: PendingRequest = { line, request, key, isRetry, isAnswered: isRetry }
    this.#pending.set(request.id, pending)
    const storedResult = this.#store.get(key)
    if (storedResult !== undefined && !isRetry)
      pending.timer = setTimeout(() => this.#respond(pending, storedResult), fallbackMs).unref()
    this.#next.toServer(line)
  }

  #respond(pending: PendingRequest, { result, at }: StoredResult): void {
    clearTimeout(pending.timer)
    pending.isAnswered = true
    const markedResult = {
      ...result,
      ...('ttlMs' in result && { ttlMs: 0 }),
      _meta: { ...asObject(result._meta), [staleMetaKey]: { since: at } },
    }
    this.#next.toClient(createResultLine(pending.request.id, markedResult))
  }

  /** Returns `false` if the response must be forwarded. */
  #settle(pending: PendingRequest, { result, error }: JsonObject): boolean {
    clearTimeout(pending.timer)
    if (result !== undefined) {
      const hasChanged = this.#store.put(pending.key, result)
      if (pending.isAnswered) this.#handleReturn(pending, hasChanged, asObject(result))
      return pending.isAnswered
    }
    const storedResult = this.#store.get(pending.key)
    const isUnreachable = asObject(asObject(error).data).code === 'SERVER_UNREACHABLE'
    if (!pending.isAnswered && storedResult !== undefined && isUnreachable)
      this.#respond(pending, storedResult)
    if (pending.isAnswered && pending.request.method === 'initialize')
      setTimeout(() => this.#send(pending.line, pending.request, true), retryMs).unref()
    return pending.isAnswered
  }

  #handleReturn({ request, isRetry }: PendingRequest, hasChanged: boolean, result: JsonObject): void {
    if (request.method === 'initialize') {
      // The server has not received the client's `notifications/initialized` yet.
      if (isRetry && this.#initialized !== undefined) this.#next.toServer(this.#initialized)
      const capabilities = asObject(result.capabilities)
      for (const list of new Set(Object.values(lists)))
        if (list in capabilities) this.#next.toClient(createListChangedLine(list))
    } else if (hasChanged && readClaimedVersion(request) === undefined)
      this.#next.toClient(createListChangedLine(lists[request.method] ?? 'tools'))
  }

  #forget(id: unknown): void {
    const pending = this.#pending.get(id)
    if (pending === undefined || pending.request.method === 'initialize') return
    clearTimeout(pending.timer)
    this.#pending.delete(id)
  }
}

function toRequestKey(request: Request, path: string): string {
  const { cursor, protocolVersion } = request.params ?? {}
  return toCanonicalJson([
    readClaimedVersion(request) ?? null,
    request.method,
    cursor ?? null,
    protocolVersion ?? null,
    ...(path.endsWith('/core') ? ['core'] : []),
  ])
}
