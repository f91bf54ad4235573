import Database from 'better-sqlite3'
import type { Frame, Quaternion, Vector } from '../../types.ts'
import { friendlyViews } from '../query/friendly-views.ts'
import { prepareFrames, unpackFrame } from './run-frame.ts'

type Value = number | null
type Row = readonly Value[]

const xyz = ({ x, y, z }: Vector): Row => [x, y, z]
const wxyz = ({ w, ...axis }: Quaternion): Row => [w, ...xyz(axis)]
const computeNorm = (...values: Row): Value =>
  values.some((value) => value === null) ? null : Math.hypot(...(values as number[]))
const computeUtilization = (tangent: Value, mu: Value, normal: Value): Value =>
  tangent === null || mu === null || normal === null || mu * normal === 0
    ? null
    : tangent / (mu * Math.abs(normal))

const toRows: Readonly<Record<string, (frame: Frame) => readonly Row[]>> = {
  v_frame: ({ frame_id, simulation_time, system_energy: e }) => [
    [
      ...[frame_id, simulation_time, e?.total_linear_ke ?? null, e?.total_rotational_ke ?? null],
      ...[e?.total_potential_e ?? null, e?.total_system_e ?? null, e?.delta_e ?? null],
      ...[e ? Number(e.energy_injection) : null, e ? Number(e.collision_active) : null],
    ],
  ],
  v_state: ({ frame_id, simulation_time, states }) =>
    states.map(({ body_id, position, velocity, orientation, angular_velocity }) => [
      ...[
        frame_id,
        simulation_time,
        body_id,
        ...xyz(position),
        ...xyz(velocity),
        computeNorm(...xyz(velocity)),
      ],
      ...[...wxyz(orientation), ...(angular_velocity === null ? [null, null, null] : xyz(angular_velocity))],
    ]),
  v_contact: ({ frame_id, simulation_time, collisions }) =>
    collisions.flatMap(({ body_a_id, body_b_id, normal, penetration_depth, contacts }) => {
      const pair = [frame_id, simulation_time, body_a_id, body_b_id, ...xyz(normal), penetration_depth]
      if (contacts.length === 0) return [[...pair, ...new Array<null>(7).fill(null)]]
      return contacts.map(({ point_a, point_b, depth }) => [...pair, ...xyz(point_a), ...xyz(point_b), depth])
    }),
  v_friction: ({ frame_id, simulation_time, friction_constraints }) =>
    friction_constraints.map((row) => {
      const { friction_coefficient: mu, normal_lambda: n, tangent1_lambda: t1, tangent2_lambda: t2 } = row
      const tangent = computeNorm(t1, t2)
      return [
        ...[
          frame_id,
          simulation_time,
          row.body_a_id,
          row.body_b_id,
          ...xyz(row.normal),
          ...xyz(row.tangent1),
        ],
        ...[...xyz(row.tangent2), ...xyz(row.lever_arm_a), ...xyz(row.lever_arm_b), mu, n, t1, t2],
        ...[tangent, computeUtilization(tangent, mu, n)],
      ]
    }),
  v_energy: ({ frame_id, simulation_time, body_energies }) =>
    body_energies.map(({ body_id, linear_ke, rotational_ke, potential_e, total_e }) => [
      ...[frame_id, simulation_time, body_id, linear_ke, rotational_ke, potential_e, total_e],
    ]),
  v_solver: ({ frame_id, simulation_time, solver }) =>
    solver === null
      ? []
      : [
          [
            ...[
              frame_id,
              simulation_time,
              solver.iterations,
              solver.residual,
              solver.converged === null ? null : Number(solver.converged),
            ],
            ...[solver.num_constraints, solver.num_contacts],
          ],
        ],
}

/**
 * Creates the friendly views of a run. A condition on `frame_id` reads only those frames, through a second
 * connection.
 */
export function createRunViews(db: Database.Database, file: string): void {
  const source = new Database(file, { readonly: true, fileMustExist: true })
  const frames = prepareFrames(source)
  for (const { name, columns } of friendlyViews) {
    const read = toRows[name]
    if (read === undefined) continue
    const [id = '', ...otherColumns] = columns
    db.table(`${name}_of`, {
      columns: otherColumns,
      parameters: ['of_frame'],
      *rows(frameId: unknown) {
        // Reads all rows first, because a join reads two frames simultaneously.
        for (const frame of [...frames(Number(frameId), Number(frameId))])
          for (const [, ...row] of read(unpackFrame(frame))) yield row as Value[]
      },
    })
    db.exec(`CREATE TEMP VIEW ${name}(${columns.join(', ')}) AS
      SELECT f.id AS ${id}, ${otherColumns.map((column) => `r.${column}`).join(', ')}
      FROM frame f CROSS JOIN ${name}_of(f.id) r`)
  }
  db.exec(`CREATE TEMP VIEW v_body(body_id, mass, restitution, friction) AS
    SELECT body_id, mass, restitution, friction FROM body WHERE body_id < 2147483648`)
}
