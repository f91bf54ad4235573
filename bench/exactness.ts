/** Compares the geodesics of ToolVault with GeodSolve, and counts what imports of odd documents leave out. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createDice, type Dice } from '../fixtures/generate/generated/dice.ts'
import { type OddImport, oddImports } from '../fixtures/generate/generated/odd-imports.ts'
import { type LatLon, normalizeAngle } from '../packages/app-toolvault/src/domain/geodesy/geodesic.ts'
import { computeBearing } from '../packages/app-toolvault/src/domain/geodesy/range-bearing.ts'
import { RepFileReader } from '../packages/app-toolvault/src/domain/import/rep-file.ts'
import { XmlFileReader } from '../packages/app-toolvault/src/domain/import/xml-file.ts'
import { countVertices, type DebriefCommand, type Feature } from '../packages/plot/src/index.ts'
import type { Section } from './report.ts'

/** Regions of the first place, and how far the second place is at most, degrees. */
const regions: readonly (readonly [name: string, place: (dice: Dice) => LatLon, span: number])[] = [
  ['anywhere, any distance', anywhere, 180],
  [
    'within 200 km of a pole',
    (dice) => ({ lat: side(dice) * dice.between(88.2, 90), lon: dice.between(-180, 180) }),
    1,
  ],
  ['across the antimeridian', (dice) => ({ lat: dice.between(-75, 75), lon: dice.between(179.5, 180) }), 1],
  ['within 2 km', anywhere, 0.01],
]

function anywhere(dice: Dice): LatLon {
  return { lat: dice.between(-90, 90), lon: dice.between(-180, 180) }
}

const side = (dice: Dice): number => (dice.between(-1, 1) < 0 ? -1 : 1)

const pairCount = 1000

/** Returns nothing if GeodSolve is not installed. */
export function compareGeodesics(): readonly Section[] {
  if (spawnSync('GeodSolve', ['--version']).error !== undefined) return []
  const rows = regions.map(([name, place, span], index) => {
    const dice = createDice(500 + index)
    const pairs = Array.from({ length: pairCount }, () => {
      const a = place(dice)
      const lat = Math.max(-90, Math.min(90, a.lat + dice.between(-span, span)))
      return [a, { lat, lon: normalizeAngle(a.lon + dice.between(-span, span)) }] as const
    })
    const [metres, degrees, undefinedBearings] = measureErrors(pairs)
    return [name, `${pairCount}`, metres.toExponential(1), degrees.toExponential(1), `${undefinedBearings}`]
  })
  return [
    {
      title: 'Geodesics of ToolVault and GeodSolve',
      about: 'Random pairs; the maximum difference of range and of bearing from GeodSolve of GeographicLib.',
      head: ['pairs', 'number', 'range, m', 'bearing, degrees', 'without a bearing'],
      rows,
    },
  ]
}

type Errors = readonly [metres: number, degrees: number, undefinedBearings: number]

function measureErrors(pairs: readonly (readonly [LatLon, LatLon])[]): Errors {
  const input = pairs.map(([a, b]) => `${a.lat} ${a.lon} ${b.lat} ${b.lon}`).join('\n')
  const lines = execFileSync('GeodSolve', ['-i', '-p', '9'], { input, encoding: 'utf8' }).trim().split('\n')
  const still = { course_deg: null, speed_kn: null }
  let [metres, degrees, undefinedBearings] = [0, 0, 0]
  for (const [index, [a, b]] of pairs.entries()) {
    const [azimuth = 0, , range = 0] = (lines[index] ?? '').split(' ').map(Number)
    const { range_m, bearing_deg } = computeBearing(
      { position: a, ...still },
      { position: b, ...still },
      'geodesic',
    )
    metres = Math.max(metres, Math.abs(range_m - range))
    if (bearing_deg === null) undefinedBearings++
    else degrees = Math.max(degrees, Math.abs(normalizeAngle(bearing_deg - azimuth)))
  }
  return [metres, degrees, undefinedBearings]
}

/** Returns positions in, kept, and left out with the reasons. */
export const countOddImports = (): Section => ({
  title: 'Imports of odd and broken documents',
  about: 'The import leaves each position of a document out with its line and a reason, or adds it.',
  head: ['document', 'positions', 'kept', 'left out', 'without a reason', 'reasons'],
  rows: oddImports.map((document) => {
    const { name, positions } = document
    const { features, skipped } = importText(document)
    const kept = features.reduce((sum, feature) => sum + countVertices(feature), 0)
    const left = Object.values(skipped).reduce((sum, count) => sum + count, 0)
    const reasons = Object.entries(skipped).map(([reason, count]) => `${reason}: ${count}`)
    return [name, positions, kept, left, positions - kept - left, reasons.join('; ')].map(String)
  }),
})

interface ImportResult {
  readonly features: readonly Feature[]
  readonly skipped: Readonly<Record<string, number>>
}

function importText({ format, text }: OddImport): ImportResult {
  let id = 0
  const options = { min_interval_s: undefined, newId: (prefix: string) => `${prefix}${id++}` }
  const reader =
    format === 'rep'
      ? new RepFileReader({ ...options, pivot_year: 70 })
      : new XmlFileReader({ ...options, format: format === 'gpx' ? 'GPX' : 'KML' })
  for (const line of text.split('\n')) reader.readLine(line)
  const [added, data] = reader.finish().payload as readonly DebriefCommand[]
  const { skipped } = (data?.payload ?? { skipped: {} }) as Pick<ImportResult, 'skipped'>
  return { features: (added?.payload ?? []) as readonly Feature[], skipped }
}
