import { commandNames, legacyCommandNames, type TimeState } from '@causeway/plot'
import { type CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'
import { readTimeState, readViewport, type ViewportState } from '../document/plot-state.ts'

export type Notice =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonObject }
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string; readonly title?: string }
  | { readonly kind: 'log'; readonly level: string; readonly message: string; readonly timestamp?: string }

export type Command =
  | { readonly command: 'addFeatures'; readonly features: readonly unknown[] }
  | { readonly command: 'updateFeatures'; readonly features: readonly unknown[] }
  | { readonly command: 'deleteFeatures'; readonly ids: readonly string[] }
  | {
      readonly command: 'setFeatureCollection'
      readonly features: readonly unknown[]
      readonly members: JsonObject
    }
  | { readonly command: 'setSelection'; readonly ids: readonly string[] }
  | { readonly command: 'setTimeState'; readonly time: TimeState }
  | { readonly command: 'setViewport'; readonly viewport: ViewportState }
  | { readonly command: 'composite'; readonly children: readonly Command[] }
  | { readonly command: 'showText' | 'showData' | 'showImage' | 'logMessage'; readonly notice: Notice }

export const allCommandNames = [...commandNames, ...legacyCommandNames] as const

const maxDepth = 10
const maxChildren = 1000
const maxCommands = 20_000
const logLevels = ['debug', 'info', 'warn', 'error']

/**
 * Parses a command or a list of commands, optionally in `{result: …}` or `{commands: […]}`. Throws `INVALID_COMMAND`.
 */
export function parseCommands(value: unknown): readonly Command[] {
  const count = { children: 0 }
  const commands = unwrapCommands(value)
  if (commands.length > maxCommands)
    throw createInvalidError(`the list has more than ${maxCommands} commands`, { commands: commands.length })
  return commands.map((command) => readCommand(command, 1, count))
}

function unwrapCommands(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value) || 'command' in value) return [value]
  if ('result' in value) return unwrapCommands(value.result)
  return Array.isArray(value.commands) ? value.commands : [value]
}

function readCommand(value: unknown, depth: number, count: { children: number }): Command {
  if (!isObject(value) || typeof value.command !== 'string')
    throw createInvalidError('a command is an object {command, payload}', { allowed: allCommandNames })
  const { command, payload, ...rest } = value
  const name = allCommandNames.find((allowedName) => allowedName === command)
  if (name === undefined)
    throw createInvalidError(
      `unknown command: ${command.slice(0, 80)}; known commands: ${allCommandNames.join(', ')}`,
      {
        command,
        allowed: allCommandNames,
      },
    )
  const [extraMember] = Object.keys(rest)
  if (extraMember !== undefined)
    throw createInvalidError(`${name} has an unknown member: ${extraMember}`, { command })
  if (name !== 'composite') return payloadReaders[name](payload)
  if (!Array.isArray(payload))
    throw createInvalidError('the payload of composite is a list of commands', { command })
  if (depth > maxDepth) throw createInvalidError(`composite is nested deeper than ${maxDepth}`, { command })
  count.children += payload.length
  if (count.children > maxChildren)
    throw createInvalidError(`composite has more than ${maxChildren} commands`, { command })
  return { command: 'composite', children: payload.map((child) => readCommand(child, depth + 1, count)) }
}

type LeafCommandName = Exclude<(typeof allCommandNames)[number], 'composite'>

const readSelectionCommand = (payload: unknown): Command => {
  const ids = isObject(payload) ? (payload.selectedIds ?? payload.featureIds) : undefined
  return { command: 'setSelection', ids: readIds(ids, 'the payload of setSelection is {selectedIds: [id]}') }
}

const readViewportCommand = (payload: unknown): Command => ({
  command: 'setViewport',
  viewport: readViewport(payload),
})

const payloadReaders: Readonly<Record<LeafCommandName, (payload: unknown) => Command>> = {
  addFeatures: (payload) => ({ command: 'addFeatures', features: readFeatures(payload, 'addFeatures') }),
  updateFeatures: (payload) => ({
    command: 'updateFeatures',
    features: readFeatures(payload, 'updateFeatures'),
  }),
  deleteFeatures: (payload) => ({
    command: 'deleteFeatures',
    ids: readIds(payload, 'the payload of deleteFeatures is a list of ids'),
  }),
  setFeatureCollection(payload) {
    const collection = isObject(payload) ? payload : {}
    const { type, features, ...members } = collection
    if (!Array.isArray(features) || (type !== undefined && type !== 'FeatureCollection'))
      throw createInvalidError('the payload of setFeatureCollection is a FeatureCollection')
    return { command: 'setFeatureCollection', features, members }
  },
  setViewport: readViewportCommand,
  updateViewport: readViewportCommand,
  setSelection: readSelectionCommand,
  highlightFeatures: readSelectionCommand,
  setTimeState: (payload) => ({ command: 'setTimeState', time: readTimeState(payload) }),
  showText(payload) {
    if (typeof payload !== 'string') throw createInvalidError('the payload of showText is a string')
    return { command: 'showText', notice: { kind: 'text', text: payload } }
  },
  showData(payload) {
    if (!isObject(payload)) throw createInvalidError('the payload of showData is an object')
    return { command: 'showData', notice: { kind: 'data', data: payload } }
  },
  showImage(payload) {
    const { mediaType, data, title } = isObject(payload) ? payload : {}
    const isSupported = mediaType === 'image/png' || mediaType === 'image/svg+xml'
    if (!isSupported || typeof data !== 'string' || data === '')
      throw createInvalidError(
        'the payload of showImage is {mediaType: image/png or image/svg+xml, data: base64}',
      )
    const notice = { kind: 'image' as const, mediaType, data }
    return { command: 'showImage', notice: typeof title === 'string' ? { ...notice, title } : notice }
  },
  logMessage(payload) {
    const { message, level = 'info', timestamp } = isObject(payload) ? payload : { message: payload }
    if (typeof message !== 'string' || !logLevels.includes(String(level)))
      throw createInvalidError(
        `the payload of logMessage is a string, or {message, level: ${logLevels.join(', ')}}`,
      )
    const notice = { kind: 'log' as const, level: String(level), message }
    return {
      command: 'logMessage',
      notice: typeof timestamp === 'string' ? { ...notice, timestamp } : notice,
    }
  },
}

function readFeatures(payload: unknown, command: string): readonly unknown[] {
  const features = isObject(payload) ? payload.features : payload
  if (Array.isArray(features)) return features
  throw createInvalidError(`the payload of ${command} is a list of features`)
}

function readIds(value: unknown, expected: string): readonly string[] {
  if (Array.isArray(value) && value.every((id) => typeof id === 'string' || typeof id === 'number'))
    return value.map(String)
  throw createInvalidError(expected)
}

const createInvalidError = (message: string, data: JsonObject = {}): CausewayError =>
  new DebriefError('INVALID_COMMAND', message, { data })
