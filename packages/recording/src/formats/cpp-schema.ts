/** Tables of the current MSD-CPP recorder, in its order. Ids are rowids. Indexes are not included. */
import { contactDataColumn } from './run-schema.ts'

type Table = readonly [name: string, sql: string]
type Column = string | readonly [name: string, target: string]

function table(name: string, ...columns: readonly Column[]): Table {
  const own = columns.map((column) => (typeof column === 'string' ? column : `${column[0]}_id INTEGER`))
  const keys = columns.flatMap((column) =>
    typeof column === 'string' ? [] : [`FOREIGN KEY (${column[0]}_id) REFERENCES ${column[1]}(id)`],
  )
  return [name, `CREATE TABLE ${name} (${['id INTEGER PRIMARY KEY', ...own, ...keys].join(', ')});`]
}

const link = (parent: string, child: string): Table => [
  `${parent}_${child}`,
  `CREATE TABLE ${parent}_${child}(${parent}_id INTEGER, ${child}_id INTEGER);`,
]

const numbers = (...names: readonly string[]): readonly string[] => names.map((name) => `${name} FLOAT`)
const integers = (...names: readonly string[]): readonly string[] => names.map((name) => `${name} INTEGER`)
const vectors = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => [name, 'Vector3DRecord'] as const)

const xyz = numbers('x', 'y', 'z')
const pair = integers('body_a_id', 'body_b_id')
const frame = ['frame', 'SimulationFrameRecord'] as const
const body = ['body', 'AssetInertialStaticRecord'] as const
const levers = vectors('normal', 'lever_arm_a', 'lever_arm_b')

const tables: readonly Table[] = [
  table('SimulationFrameRecord', ...numbers('simulation_time', 'wall_clock_time')),
  table('CoordinateRecord', ...xyz),
  table('VelocityRecord', ...xyz),
  table('AccelerationRecord', ...xyz),
  table('QuaternionDRecord', 'w FLOAT', ...xyz),
  table('Vector4DRecord', ...xyz, 'w FLOAT'),
  table('AngularAccelerationRecord', ...numbers('pitch', 'roll', 'yaw')),
  table('Vector3DRecord', ...xyz),
  table('ContactPointRecord', ['pointA', 'CoordinateRecord'], ['pointB', 'CoordinateRecord'], 'depth FLOAT'),
  table(
    'ExternalForceRecord',
    ['force', 'ForceVectorRecord'],
    ['torque', 'TorqueVectorRecord'],
    ['applicationPoint', 'CoordinateRecord'],
  ),
  table('ForceVectorRecord', ...xyz),
  table('TorqueVectorRecord', ...xyz),
  table(
    'InertialStateRecord',
    ['position', 'CoordinateRecord'],
    ['velocity', 'VelocityRecord'],
    ['acceleration', 'AccelerationRecord'],
    ['orientation', 'QuaternionDRecord'],
    ['quaternionRate', 'Vector4DRecord'],
    ['angularAcceleration', 'AngularAccelerationRecord'],
    body,
    frame,
  ),
  table('EnergyRecord', body, ...numbers('linear_ke', 'rotational_ke', 'potential_e', 'total_e'), frame),
  table(
    'SystemEnergyRecord',
    ...numbers('total_linear_ke', 'total_rotational_ke', 'total_potential_e', 'total_system_e', 'delta_e'),
    ...integers('energy_injection', 'collision_active'),
    frame,
  ),
  link('CollisionResultRecord', 'ContactPointRecord'),
  table('CollisionResultRecord', ...pair, ...vectors('normal'), 'penetrationDepth FLOAT', frame),
  table(
    'SolverDiagnosticRecord',
    ...['iterations INTEGER', 'residual FLOAT'],
    ...integers('converged', 'num_constraints', 'num_contacts'),
    frame,
  ),
  table('AssetInertialStaticRecord', 'body_id INTEGER', ...numbers('mass', 'restitution', 'friction')),
  table('AssetPhysicalStaticRecord', ...integers('body_id', 'asset_id', 'is_environment')),
  table(
    'AssetPhysicalDynamicRecord',
    'body_id INTEGER',
    ['position', 'CoordinateRecord'],
    ['orientation', 'QuaternionDRecord'],
    frame,
  ),
  link('AssetDynamicStateRecord', 'ExternalForceRecord'),
  table('AssetDynamicStateRecord', 'body_id INTEGER', ['kinematicState', 'InertialStateRecord'], frame),
  table(
    'ContactConstraintRecord',
    ...pair,
    ...levers,
    ...numbers('penetration_depth', 'restitution', 'pre_impact_rel_vel_normal'),
    frame,
  ),
  table(
    'FrictionConstraintRecord',
    ...pair,
    ...vectors('normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b'),
    ...numbers('friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda'),
    frame,
  ),
]

const contactTables: ReadonlySet<string> = new Set([
  'ContactPointRecord',
  'CollisionResultRecord',
  'CollisionResultRecord_ContactPointRecord',
  'ContactConstraintRecord',
  'FrictionConstraintRecord',
])

/** Omits contact tables without contact data, because empty ones would mean that nothing touched. */
export const cppSchema = ({ hasContactData }: { readonly hasContactData: boolean }): readonly string[] =>
  tables.filter(([name]) => hasContactData || !contactTables.has(name)).map(([, sql]) => sql)

/** Contains the run line, and whether the engine sent contacts (missing in older exports). */
export const runLineTable = 'CausewayRunRecord'

export const runLineSchema = `CREATE TABLE ${runLineTable} (id INTEGER PRIMARY KEY, run TEXT, ${contactDataColumn} INTEGER);`

/** Contains joints, with the columns of `jointAt`. */
export const jointTable = 'CausewayJointRecord'

export const jointFields = [
  ...[
    'body_a_id',
    'body_b_id',
    'kind',
    'point_x',
    'point_y',
    'point_z',
    'impulse_x',
    'impulse_y',
    'impulse_z',
  ],
  ...['torque_x', 'torque_y', 'torque_z', 'position_error'],
] as const

export const [, jointSchema] = table(jointTable, ...numbers(...jointFields), frame)
