/** The text of a plot file, split at its features. Unchanged features are written as they were read. */
import { type CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'

export interface PlotLayout {
  /** Text up to and including the opening bracket. */
  readonly head: string
  /** White space before the first feature. */
  readonly lead: string
  /** Comma and white space between features. */
  readonly separator: string
  /** White space after the last feature. */
  readonly tail: string
  /** White space between the brackets of an empty list. */
  readonly emptySpace: string
  /** Text from the closing bracket on. */
  readonly rest: string
}

interface ScannedPlot {
  readonly layout: PlotLayout
  readonly features: readonly string[]
}

type Spaces = Pick<PlotLayout, 'lead' | 'separator' | 'tail' | 'emptySpace'>

const noSpaces: Spaces = { lead: '', separator: '', tail: '', emptySpace: '' }
const emptyPlot = '{\n  "type": "FeatureCollection",\n  "features": []\n}\n'
const byteOrderMark = '\uFEFF'

/**
 * Splits the text of a feature collection. An empty file counts as an empty collection. Yields the number of
 * processed characters. Throws `INVALID_PLOT`.
 */
export function* scanSteps(text: string): Generator<number, ScannedPlot> {
  const start = text.startsWith(byteOrderMark) ? 1 : 0
  if (text.slice(start).trim() === '') return yield* scanSteps(emptyPlot)
  const { from, to, features, spaces } = yield* findFeatures(text, start)
  const head = text.slice(0, from)
  const rest = text.slice(to)
  requireCollection(head.slice(start) + rest)
  return { features, layout: { ...spaces, head, rest } }
}

export function parseMembers({ head, rest }: PlotLayout): JsonObject {
  const { features: _, ...members } = JSON.parse(head.replace(byteOrderMark, '') + rest) as JsonObject
  return members
}

export function setMembers(layout: PlotLayout, members: JsonObject): PlotLayout {
  const known = parseMembers(layout)
  if (Object.entries(members).every(([key, value]) => JSON.stringify(known[key]) === JSON.stringify(value)))
    return layout
  const text = JSON.stringify({ ...known, ...members, features: [] }, null, findIndent(layout).unit)
  const { head, rest } = runToEnd(scanSteps(text)).layout
  return { ...layout, head, rest: rest + layout.rest.slice(layout.rest.trimEnd().length) }
}

export function formatFeature(feature: JsonObject, layout: PlotLayout): string {
  const { unit, line } = findIndent(layout)
  const text = JSON.stringify(feature, null, unit)
  return unit === '' ? text : text.replaceAll('\n', line)
}

export function* formatLayout(layout: PlotLayout, features: readonly string[]): Generator<string> {
  const { lead, separator, tail } =
    features.length === 0 ? { ...noSpaces, lead: layout.emptySpace } : findSpaces(layout)
  yield layout.head + lead
  for (const [index, feature] of features.entries()) yield index === 0 ? feature : separator + feature
  yield tail + layout.rest
}

/** For an empty list, derives the white space from the other members. */
function findSpaces({ head, emptySpace, lead, separator, tail }: PlotLayout): Spaces {
  if (separator !== '') return { lead, separator, tail, emptySpace }
  if (lead !== '') return { lead, separator: `,${lead}`, tail, emptySpace }
  const line =
    /\r?\n[ \t]+(?="features")/.exec(head.slice(head.lastIndexOf('\n')))?.[0] ?? findLastIndent(head)
  if (line === '') return { lead: '', separator: ',', tail: '', emptySpace }
  const unit = line.replace(/^\r?\n/, '')
  return { lead: line + unit, separator: `,${line}${unit}`, tail: line, emptySpace }
}

const findLastIndent = (head: string): string => /\r?\n[ \t]+(?=[^\r\n]*$)/.exec(head)?.[0] ?? ''

/** Returns the indentation of one level (empty for compact text) and the text before each line of a feature. */
function findIndent(layout: PlotLayout): { readonly unit: string; readonly line: string } {
  const { lead } = findSpaces(layout)
  const [, end, indent] = /(\r?\n)([ \t]*)$/.exec(lead) ?? []
  if (end === undefined || indent === undefined) return { unit: '', line: '' }
  return { unit: indent.slice(0, Math.ceil(indent.length / 2)) || '  ', line: end + indent }
}

interface FoundFeatures {
  readonly from: number
  readonly to: number
  readonly features: readonly string[]
  readonly spaces: Spaces
}

function* findFeatures(text: string, start: number): Generator<number, FoundFeatures> {
  let at = skipSpace(text, start)
  if (text[at] !== '{') throw createInvalidError('it is not a JSON object', at)
  let found: FoundFeatures | undefined
  at = skipSpace(text, at + 1)
  while (text[at] === '"') {
    const keyEnd = findStringEnd(text, at)
    const key = text.slice(at, keyEnd)
    at = skipSpace(text, keyEnd)
    if (text[at] !== ':') throw createInvalidError('a colon is missing', at)
    at = skipSpace(text, at + 1)
    let end: number
    if (key === '"features"') {
      if (found !== undefined) throw createInvalidError('it has two members "features"', at)
      if (text[at] !== '[') throw createInvalidError('its member "features" is not an array', at)
      found = yield* splitFeatures(text, at + 1)
      end = found.to + 1
    } else end = findValueEnd(text, at)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  if (found === undefined) throw createInvalidError('it has no member "features"', at)
  return found
}

function* splitFeatures(text: string, from: number): Generator<number, FoundFeatures> {
  const features: string[] = []
  let at = skipSpace(text, from)
  if (text[at] === ']')
    return { from, to: at, features, spaces: { ...noSpaces, emptySpace: text.slice(from, at) } }
  const lead = text.slice(from, at)
  let separator = ''
  for (;;) {
    const end = findValueEnd(text, at)
    features.push(text.slice(at, end))
    yield end
    const next = skipSpace(text, end)
    if (text[next] === ']')
      return {
        from,
        to: next,
        features,
        spaces: { lead, separator, tail: text.slice(end, next), emptySpace: '' },
      }
    if (next >= text.length) throw createInvalidError('a bracket is not closed', from - 1)
    if (text[next] !== ',')
      throw createInvalidError(`a comma is missing after features[${features.length - 1}]`, next)
    at = skipSpace(text, next + 1)
    if (text[at] === ']') throw createInvalidError('there is a comma after the last feature', next)
    if (separator === '') separator = text.slice(end, at)
  }
}

function requireCollection(skeleton: string): void {
  let members: unknown
  try {
    members = JSON.parse(skeleton)
  } catch (cause) {
    throw new DebriefError('INVALID_PLOT', `the file is not JSON: ${getMessage(cause)}`, { cause })
  }
  if (isObject(members) && (members.type === undefined || members.type === 'FeatureCollection')) return
  throw new DebriefError('INVALID_PLOT', 'the file is not a GeoJSON FeatureCollection')
}

const getMessage = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at
    at += 1
  }
}

function findStringEnd(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end < 0) throw createInvalidError('a string does not end', at)
  return end + 1
}

function isEscaped(text: string, quote: number): boolean {
  let first = quote
  while (text.charCodeAt(first - 1) === 92) first -= 1
  return (quote - first) % 2 === 1
}

/** Returns where a value ends. Does not validate the value. */
function findValueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === 34) return findStringEnd(text, at)
  if (first !== 123 && first !== 91) {
    const end = /[,\]}\s]/g
    end.lastIndex = at
    const found = end.exec(text)
    if (found === null || found.index === at) throw createInvalidError('a value is missing', at)
    return found.index
  }
  let depth = 0
  for (let place = at; place < text.length; place += 1) {
    const code = text.charCodeAt(place)
    if (code === 34) place = findStringEnd(text, place) - 1
    else if (code === 123 || code === 91) depth += 1
    else if (code === 125 || code === 93) {
      depth -= 1
      if (depth === 0) return place + 1
    }
  }
  throw createInvalidError('a bracket is not closed', at)
}

const createInvalidError = (what: string, position: number): CausewayError =>
  new DebriefError('INVALID_PLOT', `the file cannot be read: ${what}`, { data: { position } })

export function runToEnd<Result>(steps: Iterator<unknown, Result, undefined>): Result {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** JSON strings cannot contain raw line breaks, so every line break is white space. */
export const toOneLine = (json: string): string => json.replaceAll(/\r?\n[ \t]*/g, '')
