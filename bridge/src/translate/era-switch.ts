import { claimedVersion, kindOf, meta, modernVersion, type Request } from '@causeway/protocol'
import { parsed } from '../parsed.ts'
import type { Stage } from '../stage.ts'
import { legacyClient, type Translator } from './legacy-client.ts'
import { modernClient } from './modern-client.ts'
import { callerOf, isMembers, type Members, modernRequest } from './modern-shape.ts'
import { keyOf, lineOf, noticeLine, ownIds, requestLine } from './wire.ts'

/** Whether the server speaks an era: found out by its first answer; `translated` once it was found not to. */
type Spoken = 'unknown' | 'asked' | 'yes' | Translator

/** Stands in every message of the stateless era, and hardly ever in another. */
const modernMark = Buffer.from(meta.protocolVersion)
const initializeMark = Buffer.from('"initialize"')

/** What a server answers that does not know an era: no such method, session, header or version. */
const otherEraCodes = new Set([-32601, -32600, -32000, -32001, -32020, -32022])

/**
 * Translates between the eras where the server does not speak that of a message. A server that speaks it gets every
 * message as it came: this stage then looks for two byte sequences and does nothing else.
 */
export function eraSwitch({ retryMs }: { readonly retryMs: number }): Stage {
  return ({ toServer, toClient }) => {
    const ends = { toServer, toClient }
    const ownId = ownIds('probe')
    /** What to do with the answer to a request of this id. */
    const watched = new Map<string, (response: Members, json: Buffer) => void>()
    let legacy: Spoken = 'unknown'
    let modern: Spoken = 'unknown'
    /** Lines of a legacy client that wait until it is known how its server speaks. */
    let held: Buffer[] = []
    /** Calls that the server refused while it is being asked for the other era. */
    let refused: { request: Request; json: Buffer }[] = []

    const release = (): void => {
      const lines = held
      held = []
      lines.forEach(fromClient)
    }

    const openLegacy = (line: Buffer, request: Request): void => {
      legacy = 'asked'
      watched.set(keyOf(request.id), (response, json) => {
        if ('result' in response) legacy = 'yes'
        else if (isOtherEra(response)) return discover(request, json)
        else legacy = 'unknown'
        toClient(json)
        release()
      })
      toServer(line)
    }

    /** The server refused `initialize`: does it speak the stateless era? */
    const discover = (initialize: Request, json: Buffer): void => {
      const id = ownId()
      watched.set(keyOf(id), ({ result }) => {
        if (isMembers(result) && [result.supportedVersions].flat().includes(modernVersion)) {
          modern = 'yes'
          legacy = legacyClient(ends, { initialize, discovered: result, retryMs })
        } else {
          legacy = 'unknown'
          toClient(json)
        }
        release()
      })
      const { clientInfo, capabilities: clientCapabilities = {} } = initialize.params ?? {}
      const request = { jsonrpc: '2.0', id, method: 'server/discover' } as const
      toServer(lineOf(modernRequest(request, { clientInfo, clientCapabilities })))
    }

    const callModern = (line: Buffer, request: Request): void => {
      watched.set(keyOf(request.id), (response, json) => {
        if (isMembers(response.result) && 'resultType' in response.result) modern = 'yes'
        // A client that has opened a session itself knows what its server speaks.
        if (modern === 'yes' || legacy === 'yes' || !isOtherEra(response)) toClient(json)
        else if (typeof modern === 'object') modern.fromClient(request)
        else {
          refused.push({ request, json })
          if (modern !== 'asked') initialize(request)
        }
      })
      toServer(line)
    }

    /** The server refused a message of the stateless era: can a session be opened? */
    const initialize = (first: Request): void => {
      modern = 'asked'
      const id = ownId()
      watched.set(keyOf(id), ({ result }) => {
        const waiting = refused
        refused = []
        if (isMembers(result)) {
          toServer(noticeLine('notifications/initialized'))
          const translator = modernClient(ends, result)
          modern = translator
          for (const { request } of waiting) translator.fromClient(request)
        } else {
          modern = 'unknown'
          for (const { json } of waiting) toClient(json)
        }
      })
      const { clientInfo, clientCapabilities } = callerOf(first)
      toServer(
        requestLine(id, 'initialize', {
          protocolVersion: '2025-11-25',
          capabilities: clientCapabilities ?? {},
          clientInfo: clientInfo ?? { name: 'unknown', version: '0' },
        }),
      )
    }

    const fromModern = (line: Buffer): void => {
      if (modern === 'yes') {
        toServer(line)
        return
      }
      const message = parsed(line)
      if (claimedVersion(message) === undefined) fromLegacy(line)
      else if (typeof modern === 'object') modern.fromClient(message)
      else if (kindOf(message) === 'request') callModern(line, message as Request)
      else toServer(line)
    }

    const fromLegacy = (line: Buffer): void => {
      if (legacy === 'yes') toServer(line)
      else if (legacy === 'asked') held.push(line)
      else if (typeof legacy === 'object')
        for (const message of [parsed(line)].flat()) legacy.fromClient(message)
      else fromUndecided(line)
    }

    /** Nothing is known of the server but perhaps that it does not speak the stateless era. */
    const fromUndecided = (line: Buffer): void => {
      const message = line.includes(initializeMark) || typeof modern === 'object' ? parsed(line) : undefined
      if (kindOf(message) === 'request' && (message as Request).method === 'initialize')
        openLegacy(line, message as Request)
      // A notification of a stateless client need not say its era.
      else if (typeof modern === 'object') modern.fromClient(message)
      else toServer(line)
    }

    const fromClient = (line: Buffer): void =>
      line.includes(modernMark) ? fromModern(line) : fromLegacy(line)

    return {
      toServer: fromClient,
      toClient(json) {
        const translator = typeof legacy === 'object' ? legacy : modern
        if (watched.size === 0 && typeof translator !== 'object') return toClient(json)
        const message = parsed(json)
        const isResponse = kindOf(message) === 'response'
        const id = isResponse ? keyOf((message as Members).id) : ''
        const answer = watched.get(id)
        watched.delete(id)
        if (answer !== undefined) return answer(message as Members, json)
        // Beside a session of the client's own, only the calls that it made in the other era are translated.
        const isForeign = typeof translator !== 'object' || (legacy === 'yes' && !isResponse)
        if (isForeign || !translator.fromServer(message)) toClient(json)
      },
    }
  }
}

/** True for an error that a server of the other era gives; not for one that may pass. */
function isOtherEra({ error }: Members): boolean {
  const { code, data } = (isMembers(error) ? error : {}) as { code?: unknown; data?: unknown }
  const cause = isMembers(data) ? data : {}
  if (cause.code === 'SERVER_ANSWER_INVALID') return true
  return cause.retryable !== true && otherEraCodes.has(Number(code))
}
