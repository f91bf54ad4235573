import type { Collision } from '@causeway/recording'
import t from 'tap'
import {
  excessive,
  greatestPenetration,
  penetrationOf,
  penetrationSummary,
} from '../../src/domain/penetration.ts'

const collision = (penetration_depth: number | null, depths: readonly (number | null)[] = []): Collision =>
  ({
    body_a_id: 2,
    body_b_id: 3,
    normal: { x: 0, y: 0, z: 1 },
    penetration_depth,
    contacts: depths.map((depth) => ({ depth })),
  }) as unknown as Collision

t.test('penetration: a pair exactly as deep as the threshold is not excessive', async (t) => {
  const pairs = [0.01, 0.0101, 0.5].map((depth) => penetrationOf(collision(depth)))
  t.same(
    excessive(pairs, 0.01).map((one) => one.penetration_depth),
    [0.0101, 0.5],
  )
  t.match(penetrationSummary(pairs, 0.01), /2 collisions of 3.*deepest is 0\.5 m between bodies 2 and 3/)
})

t.test('penetration: the deepest point counts where the pair has no depth of its own', async (t) => {
  const pair = penetrationOf(collision(null, [0.1, null, 0.3]))
  t.match(pair, { penetration_depth: 0.3, max_point_depth: 0.3 })
})

t.test(
  'penetration: the greatest depths of pairs and points stand apart, and are absent where nothing overlaps',
  async (t) => {
    t.same(greatestPenetration([penetrationOf(collision(0.1, [0.2]))]), {
      max_penetration_depth: 0.1,
      max_point_depth: 0.2,
    })
    t.same(greatestPenetration([]), { max_penetration_depth: null, max_point_depth: null })
    t.match(penetrationSummary([], 0.01), /0 collisions of 0/)
    t.match(penetrationSummary([penetrationOf(collision(0.001))], 0.01), /the deepest is 0\.001 m/)
  },
)
