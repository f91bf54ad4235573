import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { verifies } from '../../../test/verifies.ts'
import { edit, openReplay, rowsOf } from './replay-kit.ts'

/** Replay over a recording and a copy of it that differs from some frame on. */
async function pair(
  t: Parameters<typeof openReplay>[0],
  name: string,
  change: (db: Database.Database) => void,
) {
  const { client, folder } = await openReplay(t, [name])
  copyFileSync(join(folder, `${name}.db`), join(folder, 'after.db'))
  edit(join(folder, 'after.db'), change)
  return client()
}

/** Adds to the velocity of a body along x, from a frame on, growing by a factor a frame. */
const drift = (from: number, size: number, factor: number) => (db: Database.Database) =>
  void db
    .prepare(
      `UPDATE VelocityRecord SET x = x + :size * pow(:factor, (SELECT s.frame_id FROM AssetDynamicStateRecord s JOIN InertialStateRecord i ON i.id = s.kinematicState_id WHERE i.velocity_id = VelocityRecord.id) - :from)
       WHERE id IN (SELECT i.velocity_id FROM AssetDynamicStateRecord s JOIN InertialStateRecord i ON i.id = s.kinematicState_id WHERE s.frame_id >= :from)`,
    )
    .run({ from, size, factor })

verifies(
  'replay:divergence',
  'find_first_divergence: names the first frame, by tolerance and bit by bit',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      drift(30, 1e-12, 1)(db)
      drift(50, 1e-3, 1)(db)
    })
    const loose = await one.call('find_first_divergence', { a: 'drop', b: 'after' })
    t.match(loose, { first_frame: 50, differs: [{ field: 'velocity', body_id: 2 }], recording: 'drop' })
    const exact = await one.call('find_first_divergence', { a: 'drop', b: 'after', exact: true })
    t.match(exact, { first_frame: 30, frame_a: { frame_id: 30 }, frame_b: { frame_id: 30 } })
    const same = await one.call('find_first_divergence', { a: 'drop', b: 'drop', exact: true })
    t.match(same, { first_frame: null, differs: [], compared_frames: Number })
  },
)

verifies(
  'replay:compare-recordings',
  'compare_recordings: tells how a difference grows, and what else differs',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      drift(40, 1e-4, 1.1)(db)
      db.exec('UPDATE SolverDiagnosticRecord SET iterations = iterations + 1 WHERE frame_id >= 60')
      db.exec('UPDATE AssetInertialStaticRecord SET friction = 0.9')
    })
    const answer = await one.call('compare_recordings', { a: 'drop', b: 'after' })
    const [velocity, iterations] = rowsOf(answer.divergences)
    t.match(velocity, { field: 'velocity', first_frame_a: 40 })
    t.ok(Math.abs(Number(velocity?.growth_per_frame) - 1.1) < 1e-3)
    t.match(iterations, { field: 'iterations', first_frame_a: 60 })
    t.match(answer, { parameters: [{ body_id: 2, parameter: 'friction', b: 0.9 }], first_frame: 40 })
  },
)

verifies(
  'replay:compare-recordings',
  'compare_recordings: bodies of other ids are found by their mass, frames by their time',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      for (const table of ['AssetDynamicStateRecord', 'AssetInertialStaticRecord', 'EnergyRecord'])
        db.exec(`UPDATE ${table} SET body_id = 9`)
      db.exec('UPDATE AssetPhysicalStaticRecord SET body_id = 9')
      for (const table of ['CollisionResultRecord', 'ContactConstraintRecord', 'FrictionConstraintRecord'])
        db.exec(`UPDATE ${table} SET body_a_id = 9`)
    })
    const answer = await one.call('compare_recordings', { a: 'drop', b: 'after', align: 'time', exact: true })
    t.match(answer, { divergences: [], renamed_bodies: [{ a: 2, b: 9 }] })
  },
)

verifies('replay:divergence', 'find_first_divergence: contacts that only one run has', async (t) => {
  const one = await pair(t, 'stack', (db) =>
    db.exec('DELETE FROM CollisionResultRecord WHERE frame_id = 25 AND id % 2 = 0'),
  )
  const answer = await one.call('find_first_divergence', { a: 'stack', b: 'after' })
  t.match(answer, { first_frame: 25, differs: [{ field: 'contacts' }] })
})
