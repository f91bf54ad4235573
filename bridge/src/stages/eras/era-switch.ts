import {
  classifyMessage,
  isObject,
  type JsonObject,
  legacyVersions,
  meta,
  modernVersion,
  type Request,
  readClaimedVersion,
} from '@causeway/protocol'
import { parseJson } from '../../stdio/json.ts'
import { createIds, createNotificationLine, toLine } from '../../stdio/message.ts'
import type { MessageHandlers } from '../stage.ts'
import { LegacyClientTranslator } from './legacy-client.ts'
import {
  type Caller,
  readCaller,
  readInitializeCaller,
  type Translator,
  toModernRequest,
} from './message-shape.ts'
import { ModernClientTranslator } from './modern-client.ts'
import { mayRejectLegacy, mayRejectModern } from './rejection.ts'

interface RejectedRequest {
  readonly request: Request
  readonly json: Buffer
}

/** `native` means that the server supports the era. */
type KnownState = { readonly type: 'unknown' | 'native' }
type TranslatedState = { readonly type: 'translated'; readonly translator: Translator }

/** Lines are held while the server handles `initialize`. */
type LegacyState = KnownState | TranslatedState | { readonly type: 'opening'; readonly heldLines: Buffer[] }

/** Rejected requests wait until the server's era is determined. */
type ModernState =
  | KnownState
  | TranslatedState
  | { readonly type: 'probing'; readonly rejectedRequests: RejectedRequest[] }

const unknownState: KnownState = { type: 'unknown' }
const nativeState: KnownState = { type: 'native' }

/** Occurs in every stateless message, and in few others. */
const modernMarker = Buffer.from(meta.protocolVersion)
const initializeMarker = Buffer.from('"initialize"')

const maxHeldLines = 256

const retryMs = 1000

/** Translates messages if the server does not support their era. Otherwise only searches them for two markers. */
export class EraSwitch implements MessageHandlers {
  readonly #next: MessageHandlers
  readonly #warn: (text: string) => void
  readonly #newId = createIds('probe')
  readonly #handlers = new Map<unknown, (response: JsonObject, json: Buffer) => void>()
  #legacy: LegacyState = unknownState
  #modern: ModernState = unknownState

  constructor(next: MessageHandlers, warn: (text: string) => void) {
    this.#next = next
    this.#warn = warn
  }

  toServer(line: Buffer): void {
    if (line.includes(modernMarker)) this.#handleModernLine(line)
    else this.#handleLegacyLine(line)
  }

  toClient(json: Buffer): void {
    const translator = this.#getTranslator()
    if (this.#handlers.size === 0 && translator === undefined) this.#next.toClient(json)
    else this.#handleMessage(json, translator)
  }

  #handleMessage(json: Buffer, translator: Translator | undefined): void {
    const message = parseJson(json)
    const isResponse = classifyMessage(message) === 'response'
    const id = isResponse ? (message as JsonObject).id : undefined
    const handle = this.#handlers.get(id)
    this.#handlers.delete(id)
    // A client with its own session receives notifications and requests unchanged.
    const isForeign = translator === undefined || (this.#legacy.type === 'native' && !isResponse)
    if (handle !== undefined) handle(message as JsonObject, json)
    else if (isForeign || !translator.fromServer(message)) this.#next.toClient(json)
  }

  #getTranslator(): Translator | undefined {
    if (this.#legacy.type === 'translated') return this.#legacy.translator
    return this.#modern.type === 'translated' ? this.#modern.translator : undefined
  }

  #handleModernLine(line: Buffer): void {
    const message = this.#modern.type === 'native' ? undefined : parseJson(line)
    if (this.#modern.type === 'native') this.#next.toServer(line)
    else if (readClaimedVersion(message) === undefined) this.#handleLegacyLine(line)
    else if (this.#modern.type === 'translated') this.#translate(this.#modern.translator, line, message)
    else if (classifyMessage(message) === 'request') this.#tryModern(line, message as Request)
    else this.#next.toServer(line)
  }

  #handleLegacyLine(line: Buffer): void {
    if (this.#legacy.type === 'native') this.#next.toServer(line)
    else if (this.#legacy.type === 'opening') this.#hold(line, this.#legacy.heldLines)
    else if (this.#legacy.type === 'translated')
      this.#translate(this.#legacy.translator, line, parseJson(line))
    else this.#handleFirstLine(line)
  }

  #handleFirstLine(line: Buffer): void {
    const translator = this.#getTranslator()
    const message = line.includes(initializeMarker) || translator !== undefined ? parseJson(line) : undefined
    const isRequest = classifyMessage(message) === 'request'
    if (isRequest && (message as Request).method === 'initialize') this.#tryLegacy(line, message as Request)
    // Stateless notifications may omit the protocol version.
    else if (translator !== undefined) this.#translate(translator, line, message)
    else this.#next.toServer(line)
  }

  #hold(line: Buffer, heldLines: Buffer[]): void {
    const value = parseJson(line)
    if (!Array.isArray(value) && classifyMessage(value) === 'invalid') this.#next.toServer(line)
    // Beyond the limit, the relay receives the lines: it queues them and stops reading from the client.
    else if (heldLines.push(line) > maxHeldLines)
      for (const heldLine of heldLines.splice(0)) this.#next.toServer(heldLine)
  }

  #tryLegacy(line: Buffer, initialize: Request): void {
    const heldLines: Buffer[] = []
    const finish = (state: LegacyState, json?: Buffer): void => {
      this.#legacy = state
      if (json !== undefined) this.#next.toClient(json)
      for (const heldLine of heldLines.splice(0)) this.toServer(heldLine)
    }
    this.#legacy = { type: 'opening', heldLines }
    this.#handlers.set(initialize.id, (response, json) => {
      if ('result' in response) finish(nativeState, json)
      else if (!mayRejectLegacy(response)) finish(unknownState, json)
      else
        this.#discover(readInitializeCaller(initialize), (discovered) => {
          if (discovered === undefined) return finish(unknownState, json)
          this.#modern = nativeState
          const options = { initialize, discovered, retryMs, warn: this.#warn }
          finish({ type: 'translated', translator: new LegacyClientTranslator(this.#next, options) })
        })
    })
    this.#next.toServer(line)
  }

  /** If the request is rejected, determines whether its era is the reason. */
  #tryModern(line: Buffer, request: Request): void {
    this.#handlers.set(request.id, (response, json) => {
      if (isObject(response.result) && 'resultType' in response.result) this.#modern = nativeState
      const isNative = this.#modern.type === 'native' || this.#legacy.type === 'native'
      if (isNative || !mayRejectModern(response)) this.#next.toClient(json)
      else if (this.#modern.type === 'translated') this.#modern.translator.fromClient(request)
      else if (this.#modern.type === 'probing') this.#modern.rejectedRequests.push({ request, json })
      else this.#probeLegacy({ request, json })
    })
    this.#next.toServer(line)
  }

  /** Opens a session for the client unless the server is stateless after all. */
  #probeLegacy(firstRejected: RejectedRequest): void {
    const rejectedRequests = [firstRejected]
    const caller = readCaller(firstRejected.request)
    const giveUp = (state: KnownState): void => {
      this.#modern = state
      for (const { json } of rejectedRequests.splice(0)) this.#next.toClient(json)
    }
    const params = {
      protocolVersion: legacyVersions[0],
      capabilities: caller.clientCapabilities,
      clientInfo: caller.clientInfo ?? { name: 'unknown', version: '0' },
    }
    const openSession = (): void =>
      this.#request('initialize', params, (initialized) => {
        if (initialized === undefined) return giveUp(unknownState)
        this.#next.toServer(createNotificationLine('notifications/initialized'))
        const translator = new ModernClientTranslator(this.#next, initialized)
        this.#modern = { type: 'translated', translator }
        for (const { request } of rejectedRequests.splice(0)) translator.fromClient(request)
      })
    this.#modern = { type: 'probing', rejectedRequests }
    if (firstRejected.request.method === 'server/discover') openSession()
    else this.#discover(caller, (discovered) => (discovered ? giveUp(nativeState) : openSession()))
  }

  #discover(caller: Caller, callback: (discovered: JsonObject | undefined) => void): void {
    const { params = {} } = toModernRequest({ jsonrpc: '2.0', id: '', method: '' }, caller)
    this.#request('server/discover', params, (result) => {
      const versions = [result?.supportedVersions].flat()
      callback(versions.includes(modernVersion) ? result : undefined)
    })
  }

  /** `callback` receives `undefined` if the request fails. */
  #request(method: string, params: JsonObject, callback: (result: JsonObject | undefined) => void): void {
    const request: Request = { jsonrpc: '2.0', id: this.#newId(), method, params }
    this.#handlers.set(request.id, ({ result }) => callback(isObject(result) ? result : undefined))
    this.#next.toServer(toLine(request))
  }

  #translate(translator: Translator, line: Buffer, value: unknown): void {
    if (!Array.isArray(value) || value.length === 0) this.#translateMessage(translator, line, value)
    else for (const element of value) this.#translateMessage(translator, toLine(element), element)
  }

  /** The relay rejects values that are not messages, such as a batch in a batch. */
  #translateMessage(translator: Translator, line: Buffer, value: unknown): void {
    if (classifyMessage(value) === 'invalid') this.#next.toServer(line)
    else translator.fromClient(value)
  }
}
