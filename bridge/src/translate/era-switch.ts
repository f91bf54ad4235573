import {
  claimedVersion,
  isObject,
  type JsonObject,
  kindOf,
  legacyVersions,
  meta,
  modernVersion,
  type Request,
} from '@causeway/protocol'
import { parsed } from '../parsed.ts'
import type { Stage } from '../stage.ts'
import { ifTooDeep, refuseDeep } from '../too-deep.ts'
import { legacyClient, type Translator } from './legacy-client.ts'
import { modernClient } from './modern-client.ts'
import { type Caller, callerOf, modernRequest } from './modern-shape.ts'
import { refusesLegacy, refusesModern } from './refusal.ts'
import { keyOf, lineOf, noticeLine, ownIds } from './wire.ts'

/** Whether the server speaks an era, found out by its first answer; a translator where it does not. */
type Spoken = 'unknown' | 'asked' | 'yes' | Translator

/** Stands in every message of the stateless era, and hardly ever in another. */
const modernMark = Buffer.from(meta.protocolVersion)
const initializeMark = Buffer.from('"initialize"')

/** Lines that wait for the answer to `initialize`; clients hardly ever send any. */
const maxHeld = 256

const isMessage = (value: unknown): boolean => Array.isArray(value) || kindOf(value) !== 'invalid'

/** For a client that does not say who it is. */
const someClient = { name: 'unknown', version: '0' }

/**
 * Translates between the eras where the server does not speak that of a message. A server that speaks it gets every
 * message as it came: this stage then looks for two byte sequences and does nothing else.
 */
export function eraSwitch({ retryMs }: { readonly retryMs: number }): Stage {
  return ({ toServer, toClient }) => {
    const ends = { toServer, toClient }
    const ownId = ownIds('probe')
    /** What to do with the answer to a request of this id. */
    const watched = new Map<string, (response: JsonObject, json: Buffer) => void>()
    let legacy: Spoken = 'unknown'
    let modern: Spoken = 'unknown'
    /** Lines of a legacy client that wait until it is known how its server speaks. */
    const held: Buffer[] = []
    /** Calls that the server refused while it is being asked for the other era. */
    const refused: { request: Request; json: Buffer }[] = []

    const hold = (line: Buffer): void => {
      if (!isMessage(parsed(line))) toServer(line)
      // Behind `initialize` they wait in the relay too, which then reads the client no further.
      else if (held.push(line) > maxHeld) held.splice(0).forEach(toServer)
    }

    const release = (): void => {
      held.splice(0).forEach(fromClient)
    }

    const openLegacy = (line: Buffer, request: Request): void => {
      legacy = 'asked'
      watched.set(keyOf(request.id), (response, json) => {
        if ('result' in response) legacy = 'yes'
        else if (refusesLegacy(response)) return askForModern(request, json)
        else legacy = 'unknown'
        toClient(json)
        release()
      })
      toServer(line)
    }

    /** Asks the server something on behalf of nobody. */
    const probe = (
      method: string,
      params: JsonObject,
      then: (result: JsonObject | undefined) => void,
    ): void => {
      const request: Request = { jsonrpc: '2.0', id: ownId(), method, params }
      watched.set(keyOf(request.id), ({ result }) => then(isObject(result) ? result : undefined))
      ifTooDeep(
        () => toServer(lineOf(request)),
        () => {
          watched.delete(keyOf(request.id))
          then(undefined)
        },
      )
    }
    const discover = (caller: Caller, then: (discovered: JsonObject | undefined) => void): void => {
      const { params = {} } = modernRequest({ jsonrpc: '2.0', id: '', method: '' }, caller)
      probe('server/discover', params, (result) => {
        const versions = [result?.supportedVersions].flat()
        then(versions.includes(modernVersion) ? result : undefined)
      })
    }

    /** The server refused `initialize`: does it speak the stateless era? */
    const askForModern = (initialize: Request, json: Buffer): void => {
      const { clientInfo, capabilities: clientCapabilities = {} } = initialize.params ?? {}
      discover({ clientInfo, clientCapabilities }, (discovered) => {
        const giveUp = (): void => {
          legacy = 'unknown'
          toClient(json)
        }
        if (discovered === undefined) giveUp()
        else
          ifTooDeep(() => {
            legacy = legacyClient(ends, { initialize, discovered, retryMs })
            modern = 'yes'
          }, giveUp)
        release()
      })
    }

    const callModern = (line: Buffer, request: Request): void => {
      watched.set(keyOf(request.id), (response, json) => {
        if (isObject(response.result) && 'resultType' in response.result) modern = 'yes'
        // A client that has opened a session itself knows what its server speaks.
        if (modern === 'yes' || legacy === 'yes' || !refusesModern(response)) toClient(json)
        else if (typeof modern === 'object') hand(modern, request)
        else {
          refused.push({ request, json })
          if (modern !== 'asked') askForLegacy(request)
        }
      })
      toServer(line)
    }

    /** The server refused a message of the stateless era: is it for the message, or for the era? */
    const askForLegacy = (first: Request): void => {
      modern = 'asked'
      const caller = callerOf(first)
      if (first.method === 'server/discover') openSession(caller)
      else discover(caller, (discovered) => (discovered ? giveUp('yes') : openSession(caller)))
    }

    const openSession = ({ clientInfo, clientCapabilities: capabilities }: Caller): void => {
      const params = {
        protocolVersion: legacyVersions[0],
        capabilities,
        clientInfo: clientInfo ?? someClient,
      }
      probe('initialize', params, (initialized) => {
        if (initialized === undefined) return giveUp('unknown')
        toServer(noticeLine('notifications/initialized'))
        const translator = modernClient(ends, initialized)
        modern = translator
        for (const { request } of refused.splice(0)) hand(translator, request)
      })
    }

    /** Nothing is to be translated: the client gets what the server said. */
    const giveUp = (found: 'yes' | 'unknown'): void => {
      modern = found
      for (const { json } of refused.splice(0)) toClient(json)
    }

    /** A request that is nested too deeply is refused here, where its own id is known. */
    const hand = (translator: Translator, message: unknown): void =>
      ifTooDeep(
        () => translator.fromClient(message),
        () => refuseDeep(message, toClient),
      )

    /** Hands a line to a translator; what is no message is refused behind this stage, as ever. */
    const translate = (translator: Translator, line: Buffer, value: unknown): void => {
      if (!Array.isArray(value)) {
        if (kindOf(value) === 'invalid') toServer(line)
        else hand(translator, value)
      } else if (value.length === 0) toServer(line)
      else
        for (const element of value)
          ifTooDeep(
            () => translate(translator, lineOf(element), element),
            () => refuseDeep(element, toClient),
          )
    }

    const fromModern = (line: Buffer): void => {
      if (modern === 'yes') {
        toServer(line)
        return
      }
      const message = parsed(line)
      if (claimedVersion(message) === undefined) fromLegacy(line)
      else if (typeof modern === 'object') translate(modern, line, message)
      else if (kindOf(message) === 'request') callModern(line, message as Request)
      else toServer(line)
    }

    const fromLegacy = (line: Buffer): void => {
      if (legacy === 'yes') toServer(line)
      else if (legacy === 'asked') hold(line)
      else if (typeof legacy === 'object') translate(legacy, line, parsed(line))
      else fromUndecided(line)
    }

    /** Nothing is known of the server but perhaps that it does not speak the stateless era. */
    const fromUndecided = (line: Buffer): void => {
      const message = line.includes(initializeMark) || typeof modern === 'object' ? parsed(line) : undefined
      if (kindOf(message) === 'request' && (message as Request).method === 'initialize')
        openLegacy(line, message as Request)
      // A notification of a stateless client need not say its era.
      else if (typeof modern === 'object') translate(modern, line, message)
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
        const id = isResponse ? keyOf((message as JsonObject).id) : ''
        const answer = watched.get(id)
        watched.delete(id)
        if (answer !== undefined) return answer(message as JsonObject, json)
        // Beside a session of the client's own, only the calls that it made in the other era are translated.
        const isForeign = typeof translator !== 'object' || (legacy === 'yes' && !isResponse)
        if (isForeign || !translator.fromServer(message)) toClient(json)
      },
    }
  }
}
