/**
 * The text of a plot file, cut at its features. What is not changed is written back as the very characters that were
 * read: numbers, order of members, unknown members and indentation survive because nobody touches them.
 */
import { CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { finished } from './steps.ts'

/** Everything of the text but the features. */
export interface PlotLayout {
  /** up to and with the bracket that opens the features */
  readonly head: string
  /** white space before the first feature */
  readonly lead: string
  /** comma and white space between two features */
  readonly separator: string
  /** white space after the last feature */
  readonly tail: string
  /** white space between the brackets of a list that was read without any feature */
  readonly hollow: string
  /** from the bracket that closes the features to the end */
  readonly rest: string
}

/** A text cut into its parts. */
export interface ScannedPlot {
  readonly layout: PlotLayout
  /** the text of each feature */
  readonly features: readonly string[]
}

/** White space around and between features. */
type Spaces = Pick<PlotLayout, 'lead' | 'separator' | 'tail' | 'hollow'>

const noSpaces: Spaces = { lead: '', separator: '', tail: '', hollow: '' }
const emptyPlot = '{\n  "type": "FeatureCollection",\n  "features": []\n}\n'
const byteOrderMark = '\uFEFF'

/**
 * Cuts the text of a feature collection; an empty file is an empty collection. Yields the place up to which it is cut.
 * Throws `INVALID_PLOT`.
 */
export function* scanSteps(text: string): Generator<number, ScannedPlot> {
  const start = text.startsWith(byteOrderMark) ? 1 : 0
  if (text.slice(start).trim() === '') return yield* scanSteps(emptyPlot)
  const { from, to, features, spaces } = yield* featuresIn(text, start)
  const head = text.slice(0, from)
  const rest = text.slice(to)
  checkMembers(head.slice(start) + rest)
  return { features, layout: { ...spaces, head, rest } }
}

/** The members of the collection beside its features. */
export function membersOf({ head, rest }: PlotLayout): JsonObject {
  const { features: _, ...members } = JSON.parse(head.replace(byteOrderMark, '') + rest) as JsonObject
  return members
}

/** The same layout with some members of the collection replaced or added. */
export function withMembers(layout: PlotLayout, members: JsonObject): PlotLayout {
  const known = membersOf(layout)
  if (Object.entries(members).every(([key, value]) => JSON.stringify(known[key]) === JSON.stringify(value)))
    return layout
  const text = JSON.stringify({ ...known, ...members, features: [] }, null, indentOf(layout).unit)
  const { head, rest } = finished(scanSteps(text)).layout
  return { ...layout, head, rest: rest + layout.rest.slice(layout.rest.trimEnd().length) }
}

/** The text of a feature that was made or changed, in the manner of its neighbours. */
export function featureText(feature: JsonObject, layout: PlotLayout): string {
  const { unit, line } = indentOf(layout)
  const text = JSON.stringify(feature, null, unit)
  return unit === '' ? text : text.replaceAll('\n', line)
}

/** The whole text again, in pieces. */
export function* plotParts(layout: PlotLayout, features: readonly string[]): Generator<string> {
  const { lead, separator, tail } =
    features.length === 0 ? { ...noSpaces, lead: layout.hollow } : spacing(layout)
  yield layout.head + lead
  for (const [index, feature] of features.entries()) yield index === 0 ? feature : separator + feature
  yield tail + layout.rest
}

/** White space of the features; of a file that had none, what its other members suggest. */
function spacing({ head, hollow, lead, separator, tail }: PlotLayout): Spaces {
  if (separator !== '') return { lead, separator, tail, hollow }
  if (lead !== '') return { lead, separator: `,${lead}`, tail, hollow }
  const line = /\r?\n[ \t]+(?="features")/.exec(head.slice(head.lastIndexOf('\n')))?.[0] ?? lastLine(head)
  if (line === '') return { lead: '', separator: ',', tail: '', hollow }
  const unit = line.replace(/^\r?\n/, '')
  return { lead: line + unit, separator: `,${line}${unit}`, tail: line, hollow }
}

const lastLine = (head: string): string => /\r?\n[ \t]+(?=[^\r\n]*$)/.exec(head)?.[0] ?? ''

/** One step of indentation (empty for compact text), and what begins a line within a feature. */
function indentOf(layout: PlotLayout): { readonly unit: string; readonly line: string } {
  const { lead } = spacing(layout)
  const [, end, indent] = /(\r?\n)([ \t]*)$/.exec(lead) ?? []
  if (end === undefined || indent === undefined) return { unit: '', line: '' }
  return { unit: indent.slice(0, Math.ceil(indent.length / 2)) || '  ', line: end + indent }
}

/** The features where they stand. */
interface Found {
  /** places behind the bracket that opens them, and of the one that closes them */
  readonly from: number
  readonly to: number
  readonly features: readonly string[]
  readonly spaces: Spaces
}

function* featuresIn(text: string, start: number): Generator<number, Found> {
  let at = skipSpace(text, start)
  if (text[at] !== '{') throw invalid('it is no JSON object', at)
  let found: Found | undefined
  at = skipSpace(text, at + 1)
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at)
    const key = text.slice(at, keyEnd)
    at = skipSpace(text, keyEnd)
    if (text[at] !== ':') throw invalid('a colon is missing', at)
    at = skipSpace(text, at + 1)
    let end: number
    if (key === '"features"') {
      if (found !== undefined) throw invalid('it has two members "features"', at)
      if (text[at] !== '[') throw invalid('its member "features" is no array', at)
      found = yield* cut(text, at + 1)
      end = found.to + 1
    } else end = endOfValue(text, at)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  if (found === undefined) throw invalid('it has no member "features"', at)
  return found
}

function* cut(text: string, from: number): Generator<number, Found> {
  const features: string[] = []
  let at = skipSpace(text, from)
  if (text[at] === ']')
    return { from, to: at, features, spaces: { ...noSpaces, hollow: text.slice(from, at) } }
  const lead = text.slice(from, at)
  let separator = ''
  for (;;) {
    const end = endOfValue(text, at)
    features.push(text.slice(at, end))
    yield end
    const next = skipSpace(text, end)
    if (text[next] === ']')
      return {
        from,
        to: next,
        features,
        spaces: { lead, separator, tail: text.slice(end, next), hollow: '' },
      }
    if (next >= text.length) throw invalid('a bracket is not closed', from - 1)
    if (text[next] !== ',') throw invalid(`a comma is missing after features[${features.length - 1}]`, next)
    at = skipSpace(text, next + 1)
    if (text[at] === ']') throw invalid('a comma stands after the last feature', next)
    if (separator === '') separator = text.slice(end, at)
  }
}

function checkMembers(skeleton: string): void {
  let members: unknown
  try {
    members = JSON.parse(skeleton)
  } catch (cause) {
    throw new CausewayError('INVALID_PLOT', `the file is no JSON: ${reason(cause)}`, { cause })
  }
  if (isObject(members) && (members.type === undefined || members.type === 'FeatureCollection')) return
  throw new CausewayError('INVALID_PLOT', 'the file is no GeoJSON FeatureCollection')
}

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at
    at += 1
  }
}

/** The place behind the string whose opening quote stands at `at`. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end < 0) throw invalid('a string does not end', at)
  return end + 1
}

function isEscaped(text: string, quote: number): boolean {
  let first = quote
  while (text.charCodeAt(first - 1) === 92) first -= 1
  return (quote - first) % 2 === 1
}

/** The place behind the value that begins at `at`; what stands inside is not judged here. */
function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === 34) return endOfString(text, at)
  if (first !== 123 && first !== 91) {
    const end = /[,\]}\s]/g
    end.lastIndex = at
    const found = end.exec(text)
    if (found === null || found.index === at) throw invalid('a value is missing', at)
    return found.index
  }
  let depth = 0
  for (let place = at; place < text.length; place += 1) {
    const code = text.charCodeAt(place)
    if (code === 34) place = endOfString(text, place) - 1
    else if (code === 123 || code === 91) depth += 1
    else if (code === 125 || code === 93) {
      depth -= 1
      if (depth === 0) return place + 1
    }
  }
  throw invalid('a bracket is not closed', at)
}

const invalid = (what: string, position: number): CausewayError =>
  new CausewayError('INVALID_PLOT', `the file cannot be read: ${what}`, { data: { position } })
