/** Tables of the current MSD-CPP recorder, in its order. Ids are rowids. Indexes are not included. */
import { contactDataColumn } from './run-schema.ts'

type Table = readonly [name: string, sql: string]
type Column = string | readonly [name: string, target: string]

function defineTable(name: string, ...columns: readonly Column[]): Table {
  const columnTexts = columns.map((column) =>
    typeof column === 'string' ? column : `${column[0]}_id INTEGER`,
  )
  const keys = columns.flatMap((column) =>
    typeof column === 'string' ? [] : [`FOREIGN KEY (${column[0]}_id) REFERENCES ${column[1]}(id)`],
  )
  return [name, `CREATE TABLE ${name} (${['id INTEGER PRIMARY KEY', ...columnTexts, ...keys].join(', ')});`]
}

const defineLink = (parent: string, child: string): Table => [
  `${parent}_${child}`,
  `CREATE TABLE ${parent}_${child}(${parent}_id INTEGER, ${child}_id INTEGER);`,
]

const defineNumbers = (...names: readonly string[]): readonly string[] => names.map((name) => `${name} FLOAT`)
const defineIntegers = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `${name} INTEGER`)
const defineVectors = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => [name, 'Vector3DRecord'] as const)

const xyz = defineNumbers('x', 'y', 'z')
const pair = defineIntegers('body_a_id', 'body_b_id')
const frame = ['frame', 'SimulationFrameRecord'] as const
const body = ['body', 'AssetInertialStaticRecord'] as const
const levers = defineVectors('normal', 'lever_arm_a', 'lever_arm_b')

const tables: readonly Table[] = [
  defineTable('SimulationFrameRecord', ...defineNumbers('simulation_time', 'wall_clock_time')),
  defineTable('CoordinateRecord', ...xyz),
  defineTable('VelocityRecord', ...xyz),
  defineTable('AccelerationRecord', ...xyz),
  defineTable('QuaternionDRecord', 'w FLOAT', ...xyz),
  defineTable('Vector4DRecord', ...xyz, 'w FLOAT'),
  defineTable('AngularAccelerationRecord', ...defineNumbers('pitch', 'roll', 'yaw')),
  defineTable('Vector3DRecord', ...xyz),
  defineTable(
    'ContactPointRecord',
    ['pointA', 'CoordinateRecord'],
    ['pointB', 'CoordinateRecord'],
    'depth FLOAT',
  ),
  defineTable(
    'ExternalForceRecord',
    ['force', 'ForceVectorRecord'],
    ['torque', 'TorqueVectorRecord'],
    ['applicationPoint', 'CoordinateRecord'],
  ),
  defineTable('ForceVectorRecord', ...xyz),
  defineTable('TorqueVectorRecord', ...xyz),
  defineTable(
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
  defineTable(
    'EnergyRecord',
    body,
    ...defineNumbers('linear_ke', 'rotational_ke', 'potential_e', 'total_e'),
    frame,
  ),
  defineTable(
    'SystemEnergyRecord',
    ...defineNumbers(
      'total_linear_ke',
      'total_rotational_ke',
      'total_potential_e',
      'total_system_e',
      'delta_e',
    ),
    ...defineIntegers('energy_injection', 'collision_active'),
    frame,
  ),
  defineLink('CollisionResultRecord', 'ContactPointRecord'),
  defineTable('CollisionResultRecord', ...pair, ...defineVectors('normal'), 'penetrationDepth FLOAT', frame),
  defineTable(
    'SolverDiagnosticRecord',
    ...['iterations INTEGER', 'residual FLOAT'],
    ...defineIntegers('converged', 'num_constraints', 'num_contacts'),
    frame,
  ),
  defineTable(
    'AssetInertialStaticRecord',
    'body_id INTEGER',
    ...defineNumbers('mass', 'restitution', 'friction'),
  ),
  defineTable('AssetPhysicalStaticRecord', ...defineIntegers('body_id', 'asset_id', 'is_environment')),
  defineTable(
    'AssetPhysicalDynamicRecord',
    'body_id INTEGER',
    ['position', 'CoordinateRecord'],
    ['orientation', 'QuaternionDRecord'],
    frame,
  ),
  defineLink('AssetDynamicStateRecord', 'ExternalForceRecord'),
  defineTable('AssetDynamicStateRecord', 'body_id INTEGER', ['kinematicState', 'InertialStateRecord'], frame),
  defineTable(
    'ContactConstraintRecord',
    ...pair,
    ...levers,
    ...defineNumbers('penetration_depth', 'restitution', 'pre_impact_rel_vel_normal'),
    frame,
  ),
  defineTable(
    'FrictionConstraintRecord',
    ...pair,
    ...defineVectors('normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b'),
    ...defineNumbers('friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda'),
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

/** Omits the contact tables if there is no contact data, because empty ones would mean that nothing touched. */
export const cppSchema = ({ hasContactData }: { readonly hasContactData: boolean }): readonly string[] =>
  tables.filter(([name]) => hasContactData || !contactTables.has(name)).map(([, sql]) => sql)

/** Contains the run line, and whether the engine sent contacts. Earlier exports lack the latter. */
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

export const [, jointSchema] = defineTable(jointTable, ...defineNumbers(...jointFields), frame)
