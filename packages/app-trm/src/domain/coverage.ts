/** How much of the code the tests ran, where a command has written that down. It is told and never scored. */
import { XMLParser } from 'fast-xml-parser'

/** Coverage of lines. */
export interface Coverage {
  /** the file that it was read from */
  readonly source: string
  /** 0 to 100 */
  readonly percent: number
  readonly covered: number
  readonly total: number
  /** lines that no test ran in the files that the session has changed: path -> line numbers, at most 50 of a file */
  readonly uncovered: Readonly<Record<string, readonly number[]>>
}

/** Where tools write it, relative to the project; the first that was written in this evaluation counts. */
export const coverageFiles: readonly string[] = [
  'coverage.json',
  'coverage/coverage-summary.json',
  'coverage-summary.json',
  'coverage.xml',
  'coverage/cobertura-coverage.xml',
]

/** Most lines that are named of one file. */
const mostLines = 50

/** What a file of coverage says; undefined for a file of something else. `changed` are paths of the project. */
export function readCoverage(source: string, text: string, changed: readonly string[]): Coverage | undefined {
  const read = source.endsWith('.xml') ? fromCobertura(text) : fromJson(text)
  if (read === undefined || read.total === 0) return undefined
  const uncovered = changed.flatMap((path) => {
    const lines = [...read.missing].find(([file]) => file === path || file.endsWith(`/${path}`))?.[1] ?? []
    return lines.length === 0 ? [] : [[path, lines.slice(0, mostLines)] as const]
  })
  const { covered, total } = read
  return {
    source,
    percent: Math.round((covered / total) * 1e4) / 100,
    covered,
    total,
    uncovered: Object.fromEntries(uncovered),
  }
}

interface Lines {
  readonly covered: number
  readonly total: number
  /** file -> lines that were not run */
  readonly missing: ReadonlyMap<string, readonly number[]>
}

type Json = { readonly [name: string]: unknown }

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

const count = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : Number.NaN)

/** `coverage json` of coverage.py, or `coverage-summary.json` of istanbul, c8, jest and vitest. */
function fromJson(text: string): Lines | undefined {
  let root: Json
  try {
    root = object(JSON.parse(text))
  } catch {
    return undefined
  }
  const [python, script] = [object(root.totals), object(object(root.total).lines)]
  const [covered, total] =
    root.totals === undefined
      ? [count(script.covered), count(script.total)]
      : [count(python.covered_lines), count(python.num_statements)]
  if (Number.isNaN(covered) || Number.isNaN(total)) return undefined
  const missing = Object.entries(object(root.files)).map(([file, one]) => {
    const lines = object(one).missing_lines
    return [file, Array.isArray(lines) ? lines.filter((line) => typeof line === 'number') : []] as const
  })
  return { covered, total, missing: new Map(missing) }
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  processEntities: false,
  isArray: (name) => ['package', 'class', 'line'].includes(name),
})

/** Cobertura's XML. Its declaration of a document type is passed over; entities are never expanded. */
function fromCobertura(text: string): Lines | undefined {
  if (/<!ENTITY/i.test(text)) return undefined
  let root: Json
  try {
    root = object(object(parser.parse(text.replace(/<!DOCTYPE[^>]*>/i, ''))).coverage)
  } catch {
    return undefined
  }
  const missing = new Map<string, readonly number[]>()
  let [covered, total] = [0, 0]
  const inside = (value: unknown, name: string): Json[] => {
    const found = object(value)[name]
    return Array.isArray(found) ? found.map(object) : []
  }
  for (const pack of inside(root.packages, 'package'))
    for (const one of inside(pack.classes, 'class')) {
      const lines = inside(one.lines, 'line')
      const dead = lines.filter(({ hits }) => Number(hits) === 0).map(({ number }) => Number(number))
      total += lines.length
      covered += lines.length - dead.length
      missing.set(String(one.filename), dead)
    }
  return root.packages === undefined ? undefined : { covered, total, missing }
}

/** Line numbers in few characters: `3-5, 9`. */
export function linesText(lines: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last !== undefined && line === last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
}
