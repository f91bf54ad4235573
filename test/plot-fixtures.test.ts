import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import geographic from 'geographiclib-geodesic'
import { plotFiles } from '../fixtures/generate/plots/plot-files.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

const folder = join(repository, 'fixtures/plots')
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const earth = geographic.Geodesic.WGS84

const track = (plot: string, id: string): { coordinates: number[][]; times: number[] } => {
  const { geometry, properties } = read(plot).features.find((feature: { id: string }) => feature.id === id)
  return { coordinates: geometry.coordinates, times: properties.timestamps.map(Date.parse) }
}
const apart = ([lonA = 0, latA = 0]: number[], [lonB = 0, latB = 0]: number[]): number =>
  earth.Inverse(latA, lonA, latB, lonB).s12 ?? Number.NaN

verifies('debrief:fixtures', async (t) => {
  const committed = readdirSync(folder).filter((name) => name.endsWith('.json'))
  t.same(committed.sort(), Object.keys(plotFiles).sort())
  for (const [name, text] of Object.entries(plotFiles))
    t.ok(readFileSync(join(folder, name), 'utf8') === text, name)
})

verifies('debrief:fixtures', 'jumps and gaps stand where the sidecars say', async (t) => {
  for (const [name, id] of [
    ['antimeridian', 'dateline'],
    ['high-latitude', 'arctic'],
  ] as const) {
    const { coordinates, times } = track(`${name}.plot.json`, id)
    const truth = read(`${name}.truth.json`)[id]
    const jumped = coordinates.flatMap((place, at) => {
      const [before, after] = [coordinates[at - 1], coordinates[at + 1]]
      return before && after && apart(before, place) > 1000 && apart(place, after) > 1000 ? at : []
    })
    t.same(
      jumped,
      truth.jumps.map(({ at }: { at: number }) => at),
      `${name}: jumps`,
    )
    const silent = times.flatMap((time, at) => ((times[at + 1] ?? time) - time > 60_000 ? at : []))
    t.same(
      silent,
      truth.gaps.map(({ after }: { after: number }) => after),
      `${name}: gaps`,
    )
  }
})

verifies(
  'debrief:fixtures',
  'the two ships come as close as the sidecar says, between two fixes',
  async (t) => {
    const { cpa_m, cpa_time } = read('encounter.truth.json')
    const [a, b] = [track('encounter.plot.json', 'XA'), track('encounter.plot.json', 'XB')]
    const at = (ship: typeof a, minute: number): number[] => {
      const [from, to] = [
        ship.coordinates[Math.floor(minute)] ?? [],
        ship.coordinates[Math.ceil(minute)] ?? [],
      ]
      return from.map((value, axis) => value + ((to[axis] ?? value) - value) * (minute % 1))
    }
    let best = { minute: 0, metres: Number.POSITIVE_INFINITY }
    for (let minute = 29; minute <= 31; minute += 0.001) {
      const metres = apart(at(a, minute), at(b, minute))
      if (metres < best.metres) best = { minute, metres }
    }
    t.ok(Math.abs(best.metres - cpa_m) < 0.05, `${best.metres} m`)
    const start = a.times[0] ?? 0
    t.ok(Math.abs(start + best.minute * 60_000 - Date.parse(cpa_time)) < 200)
    t.ok(
      Math.min(...a.coordinates.map((place, index) => apart(place, b.coordinates[index] ?? []))) > cpa_m + 2,
    )
  },
)
