import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { play, scenes } from '../../../fixtures/generate/tracks/scene.ts'
import { scoreScene } from '../../../fixtures/generate/tracks/score.ts'
import { trackDifferences } from '../../../fixtures/generate/tracks/tracks.ts'
import { verifies } from '../../../test/verifies.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/tracks')

t.test('fixtures: the generator makes what is kept', async (t) => {
  t.same(trackDifferences(), [])
})

verifies('toolvault:scenes', async (t) => {
  for (const spec of scenes) {
    const score = scoreScene(play(spec))
    t.same(score.jumps, { ...score.jumps, missed: 0, invented: 0 }, `${spec.name}: ${JSON.stringify(score)}`)
    t.ok(score.approach_error_m <= 4 * spec.noise_m, `${spec.name}: closest approaches within the noise`)
    t.ok(score.stays.missed + score.stays.invented === 0, `${spec.name}: stays in the zone`)
    t.ok(score.stay_error_s <= 20, `${spec.name}: times of stays, ${score.stay_error_s} s`)
    t.ok(score.length_error_m / score.length_m < 0.03, `${spec.name}: lengths`)
    t.equal(score.gaps.missed + score.gaps.invented, 0, `${spec.name}: gaps`)
  }
})

t.test('fixtures: the sample plot has 17 features and some 3,000 vertices', async (t) => {
  const plot = JSON.parse(readFileSync(join(fixtures, 'gibraltar.plot.json'), 'utf8'))
  t.equal(plot.features.length, 17)
  const count = (value: unknown): number =>
    Array.isArray(value)
      ? typeof value[0] === 'number'
        ? 1
        : value.reduce((sum, one) => sum + count(one), 0)
      : 0
  const vertices = plot.features.reduce(
    (sum: number, { geometry }: { geometry: { coordinates: unknown } }) => sum + count(geometry.coordinates),
    0,
  )
  t.ok(vertices > 2900 && vertices < 3600, `${vertices} vertices`)
})
