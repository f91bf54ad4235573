/** DebriefCommand: `{command, payload}`, the one form in which tools, scripts and models change a plot. */
import { CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { readTimeState, readViewport, type TimeState, type ViewportState } from './plot-state.ts'

/** Text, data or a picture for whoever looks at the plot; it changes nothing. */
export type Notice =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonObject }
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string; readonly title?: string }
  | { readonly kind: 'log'; readonly level: string; readonly message: string; readonly timestamp?: string }

/** A command that was read. */
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

/** Every name of a command; the last two are older names of setSelection and setViewport. */
export const commandNames = [
  'addFeatures',
  'updateFeatures',
  'deleteFeatures',
  'setFeatureCollection',
  'setViewport',
  'setSelection',
  'setTimeState',
  'showText',
  'showData',
  'showImage',
  'logMessage',
  'composite',
  'highlightFeatures',
  'updateViewport',
] as const

const mostDepth = 10
const mostChildren = 1000
const levels = ['debug', 'info', 'warn', 'error']

/**
 * The commands in what a tool returned: one command, a list of them, `{result: …}` or `{commands: […]}` around them.
 * Throws `INVALID_COMMAND`.
 */
export function readCommands(value: unknown): readonly Command[] {
  const count = { children: 0 }
  return unwrapped(value).map((one) => readCommand(one, 1, count))
}

function unwrapped(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value) || 'command' in value) return [value]
  if ('result' in value) return unwrapped(value.result)
  return Array.isArray(value.commands) ? value.commands : [value]
}

function readCommand(value: unknown, depth: number, count: { children: number }): Command {
  if (!isObject(value) || typeof value.command !== 'string')
    throw invalid('a command is an object {command, payload}', { allowed: commandNames })
  const { command, payload, ...rest } = value
  const name = commandNames.find((known) => known === command)
  if (name === undefined)
    throw invalid(`unknown command: ${command.slice(0, 80)}; there are ${commandNames.join(', ')}`, {
      command,
      allowed: commandNames,
    })
  const [extra] = Object.keys(rest)
  if (extra !== undefined) throw invalid(`${name} has a member that no command has: ${extra}`, { command })
  if (name !== 'composite') return readers[name](payload)
  if (!Array.isArray(payload)) throw invalid('the payload of composite is a list of commands', { command })
  if (depth > mostDepth) throw invalid(`composite is nested deeper than ${mostDepth}`, { command })
  count.children += payload.length
  if (count.children > mostChildren)
    throw invalid(`composite has more than ${mostChildren} commands`, { command })
  return { command: 'composite', children: payload.map((child) => readCommand(child, depth + 1, count)) }
}

type Leaf = Exclude<(typeof commandNames)[number], 'composite'>

const setSelection = (payload: unknown): Command => {
  const ids = isObject(payload) ? (payload.selectedIds ?? payload.featureIds) : undefined
  return { command: 'setSelection', ids: readIds(ids, 'the payload of setSelection is {selectedIds: [id]}') }
}

const setViewport = (payload: unknown): Command => ({
  command: 'setViewport',
  viewport: readViewport(payload),
})

const readers: Readonly<Record<Leaf, (payload: unknown) => Command>> = {
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
      throw invalid('the payload of setFeatureCollection is a FeatureCollection')
    return { command: 'setFeatureCollection', features, members }
  },
  setViewport,
  updateViewport: setViewport,
  setSelection,
  highlightFeatures: setSelection,
  setTimeState: (payload) => ({ command: 'setTimeState', time: readTimeState(payload) }),
  showText(payload) {
    if (typeof payload !== 'string') throw invalid('the payload of showText is a text')
    return { command: 'showText', notice: { kind: 'text', text: payload } }
  },
  showData(payload) {
    if (!isObject(payload)) throw invalid('the payload of showData is an object')
    return { command: 'showData', notice: { kind: 'data', data: payload } }
  },
  showImage(payload) {
    const { mediaType, data, title } = isObject(payload) ? payload : {}
    const isKnown = mediaType === 'image/png' || mediaType === 'image/svg+xml'
    if (!isKnown || typeof data !== 'string' || data === '')
      throw invalid('invalid image payload: it is {mediaType: image/png or image/svg+xml, data: base64}')
    const notice = { kind: 'image' as const, mediaType, data }
    return { command: 'showImage', notice: typeof title === 'string' ? { ...notice, title } : notice }
  },
  logMessage(payload) {
    const { message, level = 'info', timestamp } = isObject(payload) ? payload : { message: payload }
    if (typeof message !== 'string' || !levels.includes(String(level)))
      throw invalid(`the payload of logMessage is a text, or {message, level: ${levels.join(', ')}}`)
    const notice = { kind: 'log' as const, level: String(level), message }
    return {
      command: 'logMessage',
      notice: typeof timestamp === 'string' ? { ...notice, timestamp } : notice,
    }
  },
}

/** A list of features; a FeatureCollection is taken as the list that it holds. */
function readFeatures(payload: unknown, command: string): readonly unknown[] {
  const features = isObject(payload) ? payload.features : payload
  if (Array.isArray(features)) return features
  throw invalid(`the payload of ${command} is a list of features`)
}

function readIds(value: unknown, expected: string): readonly string[] {
  if (Array.isArray(value) && value.every((id) => typeof id === 'string' || typeof id === 'number'))
    return [...new Set(value.map(String))]
  throw invalid(expected)
}

const invalid = (message: string, data: JsonObject = {}): CausewayError =>
  new CausewayError('INVALID_COMMAND', message, { data })
