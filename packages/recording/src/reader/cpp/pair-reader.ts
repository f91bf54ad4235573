import { createPairMatcher } from '../../domain/body-id.ts'
import { frameTable } from '../../formats/schema-era.ts'
import type { BodyId, FrameRange, PairFrame } from '../../types.ts'
import type { Connection } from './connection.ts'
import { createCollisionReader, createFrictionReader } from './contact-reader.ts'

export type ReadPair = (
  pair: readonly [BodyId, BodyId],
  range: FrameRange,
  limit: number,
) => { readonly frames: readonly PairFrame[]; readonly total_frames: number }

export function createPairReader(connection: Connection): ReadPair {
  const { db, era } = connection
  const tables = [...new Set([era.parts.collisions, era.parts.friction])].filter((name) => name !== undefined)
  if (tables.length === 0) return () => ({ frames: [], total_frames: 0 })
  // UNION counts a frame once, even if several rows or tables contain it.
  const contactQueries = tables
    .flatMap((name) => [
      `SELECT frame_id FROM "${name}" WHERE body_a_id = @a AND body_b_id = @b AND frame_id BETWEEN @first AND @last`,
      `SELECT frame_id FROM "${name}" WHERE body_a_id = @b AND body_b_id = @a AND frame_id BETWEEN @first AND @last`,
    ])
    .join(' UNION ')
  const findFrames = db
    .prepare<[Record<'a' | 'b' | 'first' | 'last', number>], [number, number | null]>(
      `SELECT f.id, f.simulation_time FROM (${contactQueries}) c CROSS JOIN ${frameTable} f ON f.id = c.frame_id ORDER BY f.id`,
    )
    .raw()
  const collisions = createCollisionReader(connection)
  const friction = createFrictionReader(connection)
  return ([a, b], { start, end }, limit) => {
    const isPair = createPairMatcher([a, b])
    const contactFrames = findFrames.all({
      a,
      b,
      first: start ?? 0,
      last: end ?? Number.MAX_SAFE_INTEGER - 1,
    })
    const frames = contactFrames.slice(0, limit).map(([frame_id, simulation_time]) => ({
      frame_id,
      simulation_time,
      collision: collisions(frame_id).find(isPair) ?? null,
      friction_constraints: friction(frame_id).filter(isPair),
    }))
    return { frames, total_frames: contactFrames.length }
  }
}
