/** The text of a plot file, split at its features. Unchanged features are written as they were read. */
import { type CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'

export interface PlotLayout {
  /** Text up to and including the opening bracket. */
  readonly head: string
  /** White space before the first feature. */
  readonly leadingSpace: string
  /** Comma and white space between features. */
  readonly separator: string
  /** White space after the last feature. */
  readonly trailingSpace: string
  /** White space between the brackets of an empty list. */
  readonly emptySpace: string
  /** Text from the closing bracket on. */
  readonly rest: string
}

interface ScannedPlot {
  readonly layout: PlotLayout
  readonly features: readonly string[]
}

type Spaces = Pick<PlotLayout, 'leadingSpace' | 'separator' | 'trailingSpace' | 'emptySpace'>

const noSpaces: Spaces = { leadingSpace: '', separator: '', trailingSpace: '', emptySpace: '' }
const emptyPlot = '{\n  "type": "FeatureCollection",\n  "features": []\n}\n'
const byteOrderMark = '\uFEFF'

/**
 * Splits the text of a feature collection. An empty file counts as an empty collection. Yields the number of
 * processed characters. Throws `INVALID_PLOT`.
 */
export function* scanInSteps(text: string): Generator<number, ScannedPlot> {
  const start = text.startsWith(byteOrderMark) ? 1 : 0
  if (text.slice(start).trim() === '') return yield* scanInSteps(emptyPlot)
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
  const knownMembers = parseMembers(layout)
  if (
    Object.entries(members).every(
      ([key, value]) => JSON.stringify(knownMembers[key]) === JSON.stringify(value),
    )
  )
    return layout
  const text = JSON.stringify(
    { ...knownMembers, ...members, features: [] },
    null,
    findIndent(layout).indentUnit,
  )
  const { head, rest } = runToEnd(scanInSteps(text)).layout
  return { ...layout, head, rest: rest + layout.rest.slice(layout.rest.trimEnd().length) }
}

export function formatFeature(feature: JsonObject, layout: PlotLayout): string {
  const { indentUnit, linePrefix } = findIndent(layout)
  const text = JSON.stringify(feature, null, indentUnit)
  return indentUnit === '' ? text : text.replaceAll('\n', linePrefix)
}

export function* formatLayout(layout: PlotLayout, features: readonly string[]): Generator<string> {
  const { leadingSpace, separator, trailingSpace } =
    features.length === 0 ? { ...noSpaces, leadingSpace: layout.emptySpace } : findSpaces(layout)
  yield layout.head + leadingSpace
  for (const [index, feature] of features.entries()) yield index === 0 ? feature : separator + feature
  yield trailingSpace + layout.rest
}

/** Derives missing white space from the rest of the file. */
function findSpaces({ head, emptySpace, leadingSpace, separator, trailingSpace }: PlotLayout): Spaces {
  if (separator !== '') return { leadingSpace, separator, trailingSpace, emptySpace }
  if (leadingSpace !== '') return { leadingSpace, separator: `,${leadingSpace}`, trailingSpace, emptySpace }
  const linePrefix =
    /\r?\n[ \t]+(?="features")/.exec(head.slice(head.lastIndexOf('\n')))?.[0] ?? findLastIndent(head)
  if (linePrefix === '') return { leadingSpace: '', separator: ',', trailingSpace: '', emptySpace }
  const indentUnit = linePrefix.replace(/^\r?\n/, '')
  return {
    leadingSpace: linePrefix + indentUnit,
    separator: `,${linePrefix}${indentUnit}`,
    trailingSpace: linePrefix,
    emptySpace,
  }
}

const findLastIndent = (head: string): string => /\r?\n[ \t]+(?=[^\r\n]*$)/.exec(head)?.[0] ?? ''

/** Returns the indentation of one level (empty for compact text) and the text before each line of a feature. */
function findIndent(layout: PlotLayout): { readonly indentUnit: string; readonly linePrefix: string } {
  const { leadingSpace } = findSpaces(layout)
  const [, end, indent] = /(\r?\n)([ \t]*)$/.exec(leadingSpace) ?? []
  if (end === undefined || indent === undefined) return { indentUnit: '', linePrefix: '' }
  return { indentUnit: indent.slice(0, Math.ceil(indent.length / 2)) || '  ', linePrefix: end + indent }
}

interface FeatureList {
  readonly from: number
  readonly to: number
  readonly features: readonly string[]
  readonly spaces: Spaces
}

function* findFeatures(text: string, start: number): Generator<number, FeatureList> {
  let offset = skipSpace(text, start)
  if (text[offset] !== '{') throw createInvalidError('it is not a JSON object', offset)
  let featureList: FeatureList | undefined
  offset = skipSpace(text, offset + 1)
  while (text[offset] === '"') {
    const keyEnd = findStringEnd(text, offset)
    const key = text.slice(offset, keyEnd)
    offset = skipSpace(text, keyEnd)
    if (text[offset] !== ':') throw createInvalidError('a colon is missing', offset)
    offset = skipSpace(text, offset + 1)
    let end: number
    if (key === '"features"') {
      if (featureList !== undefined) throw createInvalidError('it has two members "features"', offset)
      if (text[offset] !== '[') throw createInvalidError('its member "features" is not an array', offset)
      featureList = yield* splitFeatures(text, offset + 1)
      end = featureList.to + 1
    } else end = findValueEnd(text, offset)
    offset = skipSpace(text, end)
    if (text[offset] === ',') offset = skipSpace(text, offset + 1)
  }
  if (featureList === undefined) throw createInvalidError('it has no member "features"', offset)
  return featureList
}

function* splitFeatures(text: string, from: number): Generator<number, FeatureList> {
  const features: string[] = []
  let offset = skipSpace(text, from)
  if (text[offset] === ']')
    return { from, to: offset, features, spaces: { ...noSpaces, emptySpace: text.slice(from, offset) } }
  const leadingSpace = text.slice(from, offset)
  let separator = ''
  for (;;) {
    const end = findValueEnd(text, offset)
    features.push(text.slice(offset, end))
    yield end
    const nextOffset = skipSpace(text, end)
    if (text[nextOffset] === ']')
      return {
        from,
        to: nextOffset,
        features,
        spaces: { leadingSpace, separator, trailingSpace: text.slice(end, nextOffset), emptySpace: '' },
      }
    if (nextOffset >= text.length) throw createInvalidError('a bracket is not closed', from - 1)
    if (text[nextOffset] !== ',')
      throw createInvalidError(`a comma is missing after features[${features.length - 1}]`, nextOffset)
    offset = skipSpace(text, nextOffset + 1)
    if (text[offset] === ']') throw createInvalidError('there is a comma after the last feature', nextOffset)
    if (separator === '') separator = text.slice(end, offset)
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
  let offset = from
  for (;;) {
    const code = text.charCodeAt(offset)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return offset
    offset += 1
  }
}

function findStringEnd(text: string, offset: number): number {
  let end = text.indexOf('"', offset + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end < 0) throw createInvalidError('a string does not end', offset)
  return end + 1
}

function isEscaped(text: string, quote: number): boolean {
  let firstBackslash = quote
  while (text.charCodeAt(firstBackslash - 1) === 92) firstBackslash -= 1
  return (quote - firstBackslash) % 2 === 1
}

/** Returns the offset after a value. Does not validate the value. */
function findValueEnd(text: string, offset: number): number {
  const first = text.charCodeAt(offset)
  if (first === 34) return findStringEnd(text, offset)
  if (first !== 123 && first !== 91) {
    const endPattern = /[,\]}\s]/g
    endPattern.lastIndex = offset
    const match = endPattern.exec(text)
    if (match === null || match.index === offset) throw createInvalidError('a value is missing', offset)
    return match.index
  }
  let depth = 0
  for (let position = offset; position < text.length; position += 1) {
    const code = text.charCodeAt(position)
    if (code === 34) position = findStringEnd(text, position) - 1
    else if (code === 123 || code === 91) depth += 1
    else if (code === 125 || code === 93) {
      depth -= 1
      if (depth === 0) return position + 1
    }
  }
  throw createInvalidError('a bracket is not closed', offset)
}

const createInvalidError = (problem: string, position: number): CausewayError =>
  new DebriefError('INVALID_PLOT', `the file cannot be read: ${problem}`, { data: { position } })

export function runToEnd<Result>(iterator: Iterator<unknown, Result, undefined>): Result {
  let result = iterator.next()
  while (!result.done) result = iterator.next()
  return result.value
}

/** JSON strings cannot contain raw line breaks, so every line break is white space. */
export const toOneLine = (json: string): string => json.replaceAll(/\r?\n[ \t]*/g, '')
