import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { makeEraMap, readSchema } from '../src/formats/schema-era.ts'
import { buildIndexes, isIndexed } from '../src/reader/cpp/indexes.ts'
import { openReader } from '../src/reader/open-reader.ts'
import type { Reader } from '../src/reader/reader.ts'
import { equalDeep } from './equal-deep.ts'
import { whole } from './library-kit.ts'
import { bodyId, floorId, writeRecording } from './write-recording.ts'

const fixtures = new URL('../../../fixtures/recordings/', import.meta.url).pathname
const names = readdirSync(fixtures)
  .filter((name) => name.endsWith('.expected.json'))
  .map((name) => name.replace('.expected.json', ''))

/** Opens a reader for a copy that is changed first. */
function createReader(t: Test, source: string, change?: (db: Database.Database) => void): Reader {
  const file = join(t.testdir(), 'copy.db')
  copyFileSync(source, file)
  return openChanged(t, file, change)
}

function readerOfSample(
  t: Test,
  frames: number,
  change?: (db: Database.Database) => void,
  ahead = 0,
): Reader {
  const file = join(t.testdir(), 'sample.db')
  writeRecording(file, { frames, ahead })
  return openChanged(t, file, change)
}

function openChanged(t: Test, file: string, change?: (db: Database.Database) => void): Reader {
  if (change) {
    const db = new Database(file)
    change(db)
    db.close()
  }
  const reader = openReader(file)
  t.teardown(() => reader.close())
  return reader
}

const index = (db: Database.Database) => buildIndexes(db, makeEraMap(readSchema(db)))

verifies('recording:fixtures:expected', async (t) => {
  t.ok(names.length > 0, 'finds the fixtures')
  for (const name of names) {
    await t.test(name, async (t) => {
      const expected = JSON.parse(readFileSync(join(fixtures, `${name}.expected.json`), 'utf8'))
      const reader = createReader(t, join(fixtures, `${name}.db`))
      const summary = reader.summary()
      t.match(summary, {
        era: expected.era,
        missing: expected.missing,
        frames: {
          total_frames: expected.frames.count,
          first_frame: expected.frames.first_id,
          last_frame: expected.frames.last_id,
        },
        ignored_rows: Object.values<number>(expected.ignored_rows).reduce((sum, rows) => sum + rows, 0),
        environment_bodies: expected.environment_ids.map((body_id: number) => ({ body_id })),
      })
      equalDeep(t, summary.dt_s, expected.frames.dt, 'dt')
      const bodies = summary.bodies.map(({ is_environment, ...body }) => ({
        ...body,
        first_frame: summary.appearances.find(({ body_id }) => body_id === body.body_id)?.first_frame,
      }))
      equalDeep(t, bodies, expected.bodies, 'bodies')
      for (const { body_a_id, body_b_id, frames, first_frame, last_frame } of expected.pairs) {
        const history = reader.pairHistory([body_a_id, body_b_id], whole, 10_000)
        t.equal(history.total_frames, frames)
        t.equal(history.frames[0]?.frame_id, first_frame)
        t.equal(history.frames.at(-1)?.frame_id, last_frame)
      }
      for (const sample of expected.sample_frames) checkFrame(t, reader, sample)
    })
  }
})

// biome-ignore lint/suspicious/noExplicitAny: a frame of the sidecar, made by another program
function checkFrame(t: Test, reader: Reader, sample: any): void {
  const found = reader.frame(sample.frame_id)
  // The sidecar contains three nulls for a rate that cannot be computed.
  const nothing = { x: null, y: null, z: null }
  const frame = {
    ...found,
    states: found.states.map((state) => ({ ...state, angular_velocity: state.angular_velocity ?? nothing })),
  }
  const { simulation_time, states, energies, collisions, friction_constraints, solver } = sample
  equalDeep(t, frame, { simulation_time, states, collisions, friction_constraints, solver }, 'frame')
  equalDeep(t, frame.body_energies, energies, 'energies')
  equalDeep(t, frame.system_energy?.total_system_e, sample.total_system_e, 'system energy')
  equalDeep(t, frame.system_energy?.delta_e, sample.delta_e, 'delta')
}

verifies('recording:era:all', async (t) => {
  const dropped =
    (...statements: readonly string[]) =>
    (db: Database.Database) => {
      for (const statement of statements) db.exec(statement)
    }
  const eras = {
    current: dropped(),
    friction: dropped(
      'ALTER TABLE FrictionConstraintRecord DROP COLUMN tangent1_lambda',
      'ALTER TABLE FrictionConstraintRecord DROP COLUMN tangent2_lambda',
    ),
    collision: dropped('DROP TABLE FrictionConstraintRecord', 'DROP TABLE ContactConstraintRecord'),
    unified: dropped(
      `CREATE TABLE UnifiedContactConstraintRecord AS SELECT f.*, c.penetration_depth, c.restitution, c.pre_impact_rel_vel_normal
         FROM FrictionConstraintRecord f JOIN ContactConstraintRecord c ON c.id = f.id`,
      'DROP TABLE FrictionConstraintRecord',
      'DROP TABLE ContactConstraintRecord',
    ),
    'flat-contact': dropped(
      `CREATE TABLE ContactRecord (id INTEGER PRIMARY KEY, body_a_id INTEGER, body_b_id INTEGER, contact_index INTEGER,
         point_a_x FLOAT, point_a_y FLOAT, point_a_z FLOAT, point_b_x FLOAT, point_b_y FLOAT, point_b_z FLOAT,
         normal_x FLOAT, normal_y FLOAT, normal_z FLOAT, depth FLOAT, restitution FLOAT, friction FLOAT, frame_id INTEGER)`,
      `INSERT INTO ContactRecord SELECT NULL, c.body_a_id, c.body_b_id, 0, a.x, a.y, a.z, b.x, b.y, b.z, 0, 0, -1, p.depth, 0.5, 0.5, c.frame_id
         FROM CollisionResultRecord c JOIN CollisionResultRecord_ContactPointRecord l ON l.CollisionResultRecord_id = c.id
         JOIN ContactPointRecord p ON p.id = l.ContactPointRecord_id
         JOIN CoordinateRecord a ON a.id = p.pointA_id JOIN CoordinateRecord b ON b.id = p.pointB_id ORDER BY l.rowid`,
      'DROP TABLE FrictionConstraintRecord',
      'DROP TABLE ContactConstraintRecord',
      'DROP TABLE CollisionResultRecord',
    ),
    inertial: dropped(
      `UPDATE InertialStateRecord SET frame_id = (SELECT frame_id FROM AssetDynamicStateRecord a WHERE a.kinematicState_id = InertialStateRecord.id)`,
      'ALTER TABLE InertialStateRecord DROP COLUMN body_id',
      'DROP TABLE FrictionConstraintRecord',
      'DROP TABLE ContactConstraintRecord',
      'DROP TABLE CollisionResultRecord',
      'DROP TABLE AssetDynamicStateRecord',
      'DROP TABLE AssetInertialStaticRecord',
      'DROP TABLE SolverDiagnosticRecord',
    ),
  } as const
  const reference = readerOfSample(t, 6).frame(4)
  for (const [era, change] of Object.entries(eras)) {
    await t.test(era, async (t) => {
      const reader = readerOfSample(t, 6, change)
      const { capabilities, missing, ...summary } = reader.summary()
      t.equal(summary.era, era)
      t.equal(new Set([...capabilities, ...missing]).size, 11, 'lists every capability as present or missing')
      const frame = reader.frame(4)
      t.same(frame.states, reference.states, 'returns the body of each state')
      t.same(frame.body_energies, reference.body_energies)
      if (capabilities.includes('collisions')) t.same(frame.collisions, reference.collisions)
      else t.same(frame.collisions, [])
      if (capabilities.includes('contact_constraints')) {
        t.same(frame.contact_constraints, reference.contact_constraints)
      }
      const friction = capabilities.includes('tangent_lambdas')
        ? reference.friction_constraints
        : reference.friction_constraints.map((row) => ({
            ...row,
            tangent1_lambda: null,
            tangent2_lambda: null,
          }))
      t.same(frame.friction_constraints, capabilities.includes('friction') ? friction : [])
      t.equal(summary.lambda_unit, capabilities.includes('friction') ? 'N·s' : 'unknown')
      if (!capabilities.includes('solver')) t.throws(() => reader.solver(whole), { code: 'NOT_RECORDED' })
    })
  }
})

verifies('recording:read:frames', async (t) => {
  const reader = readerOfSample(t, 5)
  const weight = 2 * 9.81
  t.match(reader.frame(3), {
    frame_id: 3,
    simulation_time: 0.03,
    collisions: [
      {
        body_a_id: bodyId,
        normal: { x: 0, y: 0, z: -1 },
        contacts: [{ point_a: { x: 0.5 } }, { point_a: { x: -0.5 }, depth: 0.001 }],
      },
    ],
    contact_constraints: [{ restitution: 0.5 }, { lever_arm_b: { y: 1 } }],
    friction_constraints: [{ normal_lambda: (weight * 0.01) / 2 }, { friction_coefficient: 0.5 }],
    solver: { iterations: 3, converged: true, num_constraints: 4, num_contacts: 1 },
    body_energies: [{ body_id: bodyId, potential_e: weight * 0.5 }],
    system_energy: { delta_e: 0, energy_injection: false, collision_active: true },
  })
  t.throws(() => reader.frame(6), {
    code: 'FRAME_NOT_FOUND',
    data: { frame_id: 6, first_frame: 1, last_frame: 5 },
  })
  t.equal(reader.bodyEnergy(bodyId, { start: 2, end: 4 }).length, 3, 'includes both ends of a range')
  const history = reader.pairHistory([floorId, bodyId], { start: 2, end: null }, 2)
  t.equal(history.total_frames, 4)
  t.same(
    history.frames.map(({ frame_id, friction_constraints }) => [frame_id, friction_constraints.length]),
    [
      [2, 2],
      [3, 2],
    ],
  )
})

verifies('recording:read:ids', async (t) => {
  const { bodies, environment_bodies } = readerOfSample(t, 3).summary()
  t.match(bodies, [{ body_id: bodyId, mass: 2, asset_id: 1 }])
  t.same(environment_bodies, [{ body_id: floorId, instance_id: 1 }])
})

verifies('recording:read:null', async (t) => {
  const reader = readerOfSample(t, 4, (db) => {
    db.exec('UPDATE VelocityRecord SET x = NULL WHERE id = 2')
    db.exec('UPDATE QuaternionDRecord SET w = NULL WHERE id = 3')
    db.exec('UPDATE SystemEnergyRecord SET total_system_e = 9e999, delta_e = NULL WHERE frame_id = 2')
    db.exec('UPDATE AssetDynamicStateRecord SET kinematicState_id = 999 WHERE frame_id = 4')
  })
  t.match(reader.frame(2).states[0]?.velocity, { x: null, y: 0, z: 0 })
  t.match(reader.frame(2).system_energy, { total_system_e: null, delta_e: null })
  t.equal(reader.frame(3).states[0]?.angular_velocity, null)
  t.match(reader.frame(4).states, [{ body_id: bodyId, position: { x: null, y: null, z: null } }])
  const { fields, data } = reader.systemEnergy({ start: 2, end: 2 })
  t.ok(Number.isNaN(data[fields.indexOf('total_system_e')]))
})

verifies('recording:read:angular-velocity', async (t) => {
  // The sample rotates about z: q = (1, 0, 0, 0), dq/dt = (0, 0, 0, 0.5), so omega is 1 rad/s.
  t.same(readerOfSample(t, 1).frame(1).states[0]?.angular_velocity, { x: 0, y: 0, z: 1 })
})

verifies('recording:read:incomplete-frames', async (t) => {
  for (const change of [undefined, index]) {
    const reader = readerOfSample(t, 4, change, 2)
    t.throws(() => reader.frame(5), { code: 'FRAME_NOT_FOUND' })
    t.equal(reader.systemEnergy(whole).length, 4)
    t.equal(reader.pairHistory([bodyId, floorId], whole, 100).total_frames, 4)
    // Two additional frames, each with one energy, system, solver, collision and state row, and two of each
    // constraint.
    t.equal(reader.summary().ignored_rows, 2 * (5 + 4))
  }
})

/** Returns all data that a reader provides. */
function everything(reader: Reader) {
  const summary = reader.summary()
  const ids = Array.from({ length: summary.frames?.total_frames ?? 0 }, (_, i) => i + 1)
  const columns = [reader.systemEnergy(whole), reader.solver({ start: 2, end: 5 })]
  const energies = summary.bodies.map(({ body_id }) => reader.bodyEnergy(body_id, { start: 3, end: null }))
  const pairs = summary.bodies.flatMap(({ body_id }) =>
    summary.environment_bodies.map((floor) => reader.pairHistory([body_id, floor.body_id], whole, 50)),
  )
  return { summary, frames: ids.map(reader.frame), columns, energies, pairs }
}

verifies('recording:read:index-equals-scan', async (t) => {
  for (const name of ['late_spawn', 'stack', 'killed_writer', 'era_unified']) {
    await t.test(name, async (t) => {
      const scanned = createReader(t, join(fixtures, `${name}.db`))
      const indexed = createReader(t, join(fixtures, `${name}.db`), index)
      t.notOk(scanned.isIndexed())
      t.ok(indexed.isIndexed())
      t.same(everything(scanned), everything(indexed))
    })
  }
})

verifies(
  'recording:read:index-equals-scan',
  'a file with unordered rows is read the same with and without an index',
  async (t) => {
    const shuffled = (db: Database.Database) => {
      // In every table with a frame id, the rows of the first frame come last.
      for (const table of ['EnergyRecord', 'FrictionConstraintRecord', 'AssetDynamicStateRecord']) {
        db.exec(`UPDATE ${table} SET id = id + 1000000 WHERE frame_id = 1`)
      }
      db.exec('DELETE FROM SolverDiagnosticRecord WHERE frame_id = 3')
    }
    const scanned = readerOfSample(t, 8, shuffled)
    const indexed = readerOfSample(t, 8, (db) => {
      shuffled(db)
      index(db)
    })
    t.same(everything(scanned), everything(indexed))
    t.equal(scanned.frame(1).friction_constraints.length, 2)
    t.equal(scanned.frame(3).solver, null)
  },
)

verifies(
  'recording:read:index-equals-scan',
  'queries for the rows of one frame use the index of the table',
  async (t) => {
    const file = join(t.testdir(), 'sample.db')
    writeRecording(file, { frames: 20 })
    const db = new Database(file)
    t.teardown(() => db.close())
    index(db)
    t.ok(isIndexed(db, makeEraMap(readSchema(db))))
    const plans = ['EnergyRecord', 'FrictionConstraintRecord', 'CollisionResultRecord'].map((table) =>
      db
        .prepare(
          `EXPLAIN QUERY PLAN SELECT * FROM ${table} t WHERE t.frame_id = 1 AND t.id BETWEEN 0 AND 9e15 ORDER BY t.id`,
        )
        .all(),
    )
    for (const plan of plans)
      t.match(plan, [{ detail: /USING INDEX causeway_\w+_frame_id \(frame_id=\? AND rowid/ }])
  },
)

t.test(
  'extents are half the size of a collision mesh, and outlines are its outermost vertices',
  async (t) => {
    const mesh = (...vertices: readonly (readonly number[])[]) =>
      Buffer.from(Float64Array.from(vertices.flat()).buffer)
    const box = mesh([1, -2, 0.5], [-0.25, 1, -3])
    const open = (vertices: Buffer | null) => {
      const reader = createReader(t, join(fixtures, 'drop.db'), (db) => {
        db.pragma('foreign_keys = OFF')
        db.exec(`DELETE FROM MeshRecord; DELETE FROM ObjectRecord;
        UPDATE AssetPhysicalStaticRecord SET asset_id = 7`)
        db.prepare('INSERT INTO MeshRecord (id, vertex_data) VALUES (1, ?)').run(vertices)
        db.exec('INSERT INTO ObjectRecord (id, collisionMeshRecord_id) VALUES (7, 1)')
      })
      return reader
    }
    const extents = (vertices: Buffer | null) => [...open(vertices).extents()]
    t.same(extents(box), [[bodyId, [1, 2, 3]]])
    t.same(extents(mesh([1, 1, 0], [-1, 1, 0])), [], 'omits a flat mesh')
    t.same(extents(mesh([1, Number.NaN, 1])), [])
    t.same(extents(box.subarray(0, 40)), [], 'omits a mesh with an incomplete vertex')
    t.same(extents(Buffer.alloc(0)), [])
    t.same(extents(null), [])

    const tetrahedron = [
      [1, 1, 1],
      [1, -1, -1],
      [-1, 1, -1],
      [-1, -1, 1],
    ]
    const withInner = mesh(...tetrahedron, [0.1, 0.2, 0], ...tetrahedron)
    const pyramid = mesh([1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0], [0, 0, 2], [0, 0, 1])
    const sort = (points: Iterable<readonly number[]> = []) => [...points].map(String).sort()
    t.same(
      sort(open(pyramid).outlines().get(bodyId)),
      sort([
        [1, 1, 0],
        [1, -1, 0],
        [-1, 1, 0],
        [-1, -1, 0],
        [0, 0, 2],
      ]),
      'omits inner vertices',
    )
    t.same(sort(open(withInner).outlines().get(bodyId)), sort(tetrahedron))
    const cube = tetrahedron.flatMap((corner) => [corner, corner.map((value) => -value)])
    t.equal(open(mesh(...cube)).outlines().size, 0, 'returns no outline for a box')
    t.equal(open(mesh([1, 1, 0], [-1, 1, 0])).outlines().size, 0)
    t.equal(open(mesh([1, 1, 1], [0, Number.NaN, 1])).outlines().size, 0)
  },
)
