import Database from 'better-sqlite3'

/** A recording of a body of 2 kg that rests on the floor, dt 0.01 s, with impulses that support its weight. */
export interface Sample {
  readonly frames: number
  /** Height of the body in every frame, in m, which distinguishes the samples. */
  readonly height?: number
  /** Number of frames that have rows in all tables except the frame table. */
  readonly ahead?: number
}

/** Id of the body in `writeRecording`. */
export const bodyId = 2

/** Id of the floor in `writeRecording`, as recorded. */
export const floorId = 0x8000_0001

const vector = 'x FLOAT, y FLOAT, z FLOAT'

/** The tables of the newest recorder that readers use. */
export const schema = `
  CREATE TABLE SimulationFrameRecord (id INTEGER PRIMARY KEY, simulation_time FLOAT, wall_clock_time FLOAT);
  CREATE TABLE CoordinateRecord (id INTEGER PRIMARY KEY, ${vector});
  CREATE TABLE VelocityRecord (id INTEGER PRIMARY KEY, ${vector});
  CREATE TABLE AccelerationRecord (id INTEGER PRIMARY KEY, ${vector});
  CREATE TABLE QuaternionDRecord (id INTEGER PRIMARY KEY, w FLOAT, ${vector});
  CREATE TABLE Vector4DRecord (id INTEGER PRIMARY KEY, ${vector}, w FLOAT);
  CREATE TABLE Vector3DRecord (id INTEGER PRIMARY KEY, ${vector});
  CREATE TABLE InertialStateRecord (id INTEGER PRIMARY KEY, position_id INTEGER, velocity_id INTEGER,
    acceleration_id INTEGER, orientation_id INTEGER, quaternionRate_id INTEGER, body_id INTEGER, frame_id INTEGER);
  CREATE TABLE AssetDynamicStateRecord (id INTEGER PRIMARY KEY, body_id INTEGER, kinematicState_id INTEGER, frame_id INTEGER);
  CREATE TABLE AssetInertialStaticRecord (id INTEGER PRIMARY KEY, body_id INTEGER, mass FLOAT, restitution FLOAT, friction FLOAT);
  CREATE TABLE AssetPhysicalStaticRecord (id INTEGER PRIMARY KEY, body_id INTEGER, asset_id INTEGER, is_environment INTEGER);
  CREATE TABLE EnergyRecord (id INTEGER PRIMARY KEY, body_id INTEGER, linear_ke FLOAT, rotational_ke FLOAT,
    potential_e FLOAT, total_e FLOAT, frame_id INTEGER);
  CREATE TABLE SystemEnergyRecord (id INTEGER PRIMARY KEY, total_linear_ke FLOAT, total_rotational_ke FLOAT,
    total_potential_e FLOAT, total_system_e FLOAT, delta_e FLOAT, energy_injection INTEGER, collision_active INTEGER, frame_id INTEGER);
  CREATE TABLE SolverDiagnosticRecord (id INTEGER PRIMARY KEY, iterations INTEGER, residual FLOAT, converged INTEGER,
    num_constraints INTEGER, num_contacts INTEGER, frame_id INTEGER);
  CREATE TABLE CollisionResultRecord (id INTEGER PRIMARY KEY, body_a_id INTEGER, body_b_id INTEGER, normal_id INTEGER,
    penetrationDepth FLOAT, frame_id INTEGER);
  CREATE TABLE CollisionResultRecord_ContactPointRecord(CollisionResultRecord_id INTEGER, ContactPointRecord_id INTEGER);
  CREATE TABLE ContactPointRecord (id INTEGER PRIMARY KEY, pointA_id INTEGER, pointB_id INTEGER, depth FLOAT);
  CREATE TABLE ContactConstraintRecord (id INTEGER PRIMARY KEY, body_a_id INTEGER, body_b_id INTEGER, normal_id INTEGER,
    lever_arm_a_id INTEGER, lever_arm_b_id INTEGER, penetration_depth FLOAT, restitution FLOAT, pre_impact_rel_vel_normal FLOAT, frame_id INTEGER);
  CREATE TABLE FrictionConstraintRecord (id INTEGER PRIMARY KEY, body_a_id INTEGER, body_b_id INTEGER, normal_id INTEGER,
    tangent1_id INTEGER, tangent2_id INTEGER, lever_arm_a_id INTEGER, lever_arm_b_id INTEGER, friction_coefficient FLOAT,
    normal_lambda FLOAT, tangent1_lambda FLOAT, tangent2_lambda FLOAT, frame_id INTEGER);`

const [mass, g, dt] = [2, 9.81, 0.01]

/** Writes a complete recording of the newest era. */
export function writeRecording(path: string, sample: Sample): void {
  const db = new Database(path)
  db.pragma('foreign_keys = OFF')
  db.pragma('synchronous = OFF')
  db.transaction(() => db.exec(schema))()
  appendFrames(db, sample, 1)
  db.close()
}

/** Appends frames, starting with the id `from`, in one transaction. */
export function appendFrames(
  db: Database.Database,
  { frames, height = 0.5, ahead = 0 }: Sample,
  from: number,
): void {
  const statements = new Map<string, Database.Statement>()
  const insert = (table: string, ...values: readonly (number | null)[]) => {
    const places = values.map(() => '?').join(', ')
    const statement = statements.get(table) ?? db.prepare(`INSERT INTO ${table} VALUES (NULL, ${places})`)
    statements.set(table, statement)
    return Number(statement.run(...values).lastInsertRowid)
  }
  const link = db.prepare('INSERT INTO CollisionResultRecord_ContactPointRecord VALUES (?, ?)')
  db.transaction(() => {
    if (from === 1) {
      insert('AssetInertialStaticRecord', bodyId, mass, 0.5, 0.5)
      insert('AssetPhysicalStaticRecord', bodyId, 1, 0)
    }
    for (let frame = from; frame < from + frames + ahead; frame++) {
      const potential = mass * g * height
      if (frame < from + frames) insert('SimulationFrameRecord', frame * dt, 1e9 + frame)
      insert('EnergyRecord', bodyId, 0, 0, potential, potential, frame)
      insert(
        'SystemEnergyRecord',
        0,
        0,
        potential,
        potential,
        frame === 1 ? potential : 0,
        frame === 1 ? 1 : 0,
        1,
        frame,
      )
      insert('SolverDiagnosticRecord', 3, 1e-9, 1, 4, 1, frame)
      const down = insert('Vector3DRecord', 0, 0, -1)
      const east = insert('Vector3DRecord', 1, 0, 0)
      const north = insert('Vector3DRecord', 0, 1, 0)
      const points = [0.5, -0.5].map((x) =>
        insert(
          'ContactPointRecord',
          insert('CoordinateRecord', x, 0, -0.001),
          insert('CoordinateRecord', x, 0, 0),
          0.001,
        ),
      )
      const collision = insert('CollisionResultRecord', bodyId, floorId, down, 0.001, frame)
      for (const point of points) link.run(collision, point)
      for (const _ of points) {
        insert('ContactConstraintRecord', bodyId, floorId, down, east, north, 0.001, 0.5, 0, frame)
        insert(
          'FrictionConstraintRecord',
          bodyId,
          floorId,
          down,
          east,
          north,
          east,
          north,
          0.5,
          (mass * g * dt) / 2,
          0,
          0,
          frame,
        )
      }
      const state = insert(
        'InertialStateRecord',
        insert('CoordinateRecord', 0, 0, height),
        insert('VelocityRecord', 0, 0, 0),
        insert('AccelerationRecord', 0, 0, 0),
        insert('QuaternionDRecord', 1, 0, 0, 0),
        insert('Vector4DRecord', 0, 0, 0.5, 0),
        0,
        0,
      )
      insert('AssetDynamicStateRecord', bodyId, state, frame)
    }
  })()
}
