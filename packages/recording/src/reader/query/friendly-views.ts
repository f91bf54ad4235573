import type { Database } from 'better-sqlite3'
import { bodyEnergyFields, solverFields, systemEnergyFields } from '../../formats/fields.ts'
import { type EraMap, frameTable, makeEraMap } from '../../formats/schema-era.ts'
import { type Selection, type Source, selectFrom, wxyz, xyz } from '../cpp/selection.ts'

/** A view with the same columns in every schema era. Missing columns are NULL. */
interface FriendlyView {
  readonly name: string
  readonly about: string
  readonly columns: readonly string[]
}

interface ViewPlan extends FriendlyView {
  readonly sql: string | undefined
}

const listComponents = (name: string): string[] => xyz.map((axis) => `${name}${axis}`)
const pair = ['body_a_id', 'body_b_id']

/** Creates TEMP views, which are not written to the file. */
export function createViews(db: Database, era: EraMap): void {
  for (const { name, columns, sql } of planViews(era)) {
    const emptyQuery = `SELECT ${columns.map(() => 'NULL').join(', ')} WHERE 0`
    db.exec(`CREATE TEMP VIEW ${name}(${columns.join(', ')}) AS ${sql ?? emptyQuery}`)
  }
}

function planViews(era: EraMap): readonly ViewPlan[] {
  return [frames, planStates, planContacts, planFriction, bodyRows, solver, planBodies].map((plan) =>
    plan(era),
  )
}

function selectRows(
  { schema }: EraMap,
  table: string | undefined,
  fill: (select: Selection, root: Source) => void,
): string | undefined {
  if (table === undefined) return undefined
  const select = selectFrom(schema, table)
  const frame = select.join(select.root, 'frame_id', frameTable)
  select.column(frame, 'id')
  select.column(frame, 'simulation_time')
  fill(select, select.root)
  return select.sql(`WHERE ${frame.alias}.id IS NOT NULL`)
}

const addColumns = (select: Selection, from: Source, names: readonly string[]) => {
  for (const name of names) select.column(from, name)
}

function frames({ schema, parts }: EraMap): ViewPlan {
  const select = selectFrom(schema, frameTable)
  addColumns(select, select.root, ['id', 'simulation_time'])
  const system = select.join(select.root, 'id', parts.systemEnergy ?? frameTable, energyKey(parts))
  addColumns(select, system, systemEnergyFields)
  return {
    name: 'v_frame',
    about: 'a frame: time s, system energy J',
    columns: ['frame_id', 'simulation_time', ...systemEnergyFields],
    sql: select.sql(''),
  }
}

const energyKey = ({ systemEnergy }: EraMap['parts']) => (systemEnergy === undefined ? 'id' : 'frame_id')

function planStates(era: EraMap): ViewPlan {
  const { schema, parts } = era
  const table = parts.states
  const recorded = [
    ...listComponents('p'),
    ...listComponents('v'),
    'qw',
    ...listComponents('q'),
    'rw',
    ...listComponents('r'),
  ]
  const rows = selectRows(era, table, (select, root) => {
    const state =
      table === 'AssetDynamicStateRecord'
        ? select.join(root, 'kinematicState_id', 'InertialStateRecord')
        : root
    addColumns(select, root, ['body_id', 'id'])
    select.leaf(state, 'position', 'CoordinateRecord', xyz)
    select.leaf(state, 'velocity', 'VelocityRecord', xyz)
    select.leaf(state, 'orientation', 'QuaternionDRecord', wxyz)
    select.leaf(state, 'quaternionRate', 'Vector4DRecord', wxyz)
  })
  const energy = parts.bodyEnergy
  const isNameless = table === 'InertialStateRecord' && energy !== undefined && schema.has(energy, 'body_id')
  // The oldest states have no body ids (see `prepareFrameReader`).
  const nth = 'row_number() OVER (PARTITION BY frame_id ORDER BY id)'
  const source = isNameless
    ? `named AS (SELECT s.*, e.body_id AS named_id FROM (SELECT *, ${nth} AS nth FROM raw) s LEFT JOIN (SELECT frame_id, body_id, ${nth} AS nth FROM ${energy}) e ON e.frame_id = s.frame_id AND e.nth = s.nth)`
    : 'named AS (SELECT *, NULL AS named_id FROM raw)'
  return {
    name: 'v_state',
    about: 'a body after the step of a frame: m, m/s, quaternion body to world, rad/s in the body frame',
    columns: [
      ...['frame_id', 'simulation_time', 'body_id', 'x', 'y', 'z', 'vx', 'vy', 'vz', 'speed'],
      ...['qw', 'qx', 'qy', 'qz', 'wx', 'wy', 'wz'],
    ],
    sql:
      rows &&
      `WITH raw(frame_id, simulation_time, body_id, id, ${recorded.join(', ')}) AS (${rows}), ${source} SELECT frame_id, simulation_time, coalesce(nullif(body_id, 0), named_id, body_id), px, py, pz, vx, vy, vz, sqrt(vx * vx + vy * vy + vz * vz), qw, qx, qy, qz, 2 * (qw * rx - qx * rw - qy * rz + qz * ry), 2 * (qw * ry + qx * rz - qy * rw - qz * rx), 2 * (qw * rz - qx * ry + qy * rx - qz * rw) FROM named`,
  }
}

function planContacts(era: EraMap): ViewPlan {
  const { parts } = era
  const rows = selectRows(era, parts.collisions, (select, root) => {
    addColumns(select, root, pair)
    if (parts.collisions === 'ContactRecord') {
      addColumns(select, root, [
        ...listComponents('normal_'),
        'depth',
        ...listComponents('point_a_'),
        ...listComponents('point_b_'),
        'depth',
      ])
      return
    }
    select.leaf(root, 'normal', 'Vector3DRecord', xyz)
    select.column(root, 'penetrationDepth')
    const link = select.join(root, 'id', parts.contactPoints ?? frameTable, linkKey(parts))
    const point = select.join(link, 'ContactPointRecord_id', 'ContactPointRecord')
    select.leaf(point, 'pointA', 'CoordinateRecord', xyz)
    select.leaf(point, 'pointB', 'CoordinateRecord', xyz)
    select.column(point, 'depth')
  })
  return {
    name: 'v_contact',
    about: 'a contact point: normal from a to b, world points on both and depth in m, before the step',
    columns: [
      ...['frame_id', 'simulation_time', ...pair, ...listComponents('n'), 'depth'],
      ...[...listComponents('point_a_'), ...listComponents('point_b_'), 'point_depth'],
    ],
    sql: parts.contactPoints === undefined && parts.collisions === 'CollisionResultRecord' ? undefined : rows,
  }
}

const linkKey = ({ contactPoints }: EraMap['parts']) =>
  contactPoints === undefined ? 'id' : 'CollisionResultRecord_id'

function planFriction(era: EraMap): ViewPlan {
  const values = [
    ...[
      ...pair,
      ...listComponents('n'),
      ...listComponents('t1'),
      ...listComponents('t2'),
      ...listComponents('lever_a_'),
      ...listComponents('lever_b_'),
    ],
    ...['friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda'],
  ]
  const rows = selectRows(era, era.parts.friction, (select, root) => {
    addColumns(select, root, pair)
    for (const name of ['normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b'])
      select.leaf(root, name, 'Vector3DRecord', xyz)
    addColumns(select, root, values.slice(-4))
  })
  const columns = ['frame_id', 'simulation_time', ...values]
  return {
    name: 'v_friction',
    about: 'friction of a contact point: lambdas in the unit of the recording, utilization = |t| / (mu n)',
    columns: [...columns, 'tangent_lambda', 'utilization'],
    sql:
      rows &&
      `WITH f(${columns.join(', ')}) AS (${rows}), g AS (SELECT *, sqrt(tangent1_lambda * tangent1_lambda + tangent2_lambda * tangent2_lambda) AS tangent_lambda FROM f) SELECT *, tangent_lambda / nullif(friction_coefficient * abs(normal_lambda), 0) FROM g`,
  }
}

function bodyRows(era: EraMap): ViewPlan {
  const values = ['body_id', ...bodyEnergyFields]
  return {
    name: 'v_energy',
    about: 'energy of a body in a frame, J',
    columns: ['frame_id', 'simulation_time', ...values],
    sql: selectRows(era, era.parts.bodyEnergy, (select, root) => addColumns(select, root, values)),
  }
}

function solver(era: EraMap): ViewPlan {
  return {
    name: 'v_solver',
    about: 'the solver in a frame; converged counts only where there are constraints',
    columns: ['frame_id', 'simulation_time', ...solverFields],
    sql: selectRows(era, era.parts.solver, (select, root) => addColumns(select, root, solverFields)),
  }
}

function planBodies({ schema, parts }: EraMap): ViewPlan {
  const values = ['body_id', 'mass', 'restitution', 'friction']
  const select = parts.metadata && selectFrom(schema, parts.metadata)
  if (select) addColumns(select, select.root, values)
  return {
    name: 'v_body',
    about: 'a dynamic body: kg',
    columns: values,
    sql: select?.sql(''),
  }
}

/** Views of missing parts are empty. */
export const friendlyViews: readonly FriendlyView[] = planViews(
  makeEraMap({ has: () => false, target: () => undefined }),
).map(({ name, about, columns }) => ({ name, about, columns }))
