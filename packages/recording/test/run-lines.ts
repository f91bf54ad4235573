/** Lines of a run, as an engine sends them. */

/** A run line: a ball, a crate and a floor. */
export const runLine = JSON.stringify({
  run: {
    engine: 'hand',
    dt: 0.01,
    gravity: [0, 0, -9.81],
    lambda_unit: 'Ns',
    bodies: [
      {
        id: 1,
        mass: 2,
        restitution: 0.5,
        friction: 0.6,
        inertia: [0.1, 0.2, 0.3],
        half_extents: [0.5, 0.5, 0.5],
      },
      { id: 2, mass: 1, name: 'rod', shape: { kind: 'capsule', radius: 0.1, half_length: 0.4 } },
      {
        id: 3,
        is_environment: true,
        name: 'floor',
        shape: { kind: 'plane' },
        position: [0, 0, 0],
        orientation: [1, 0, 0, 0],
      },
    ],
  },
})

/** Returns a frame in which the ball falls. In every third frame, the ball touches the floor. */
export function frameLine(id: number, change: object = {}): string {
  const t = id * 0.01
  const point = {
    point_a: [t, 0, 0],
    point_b: [t, 0, 0.001],
    depth: 0.001,
    lever_arm_a: [0, 0, -0.5],
    lever_arm_b: [t, 0, 0],
    restitution: 0.5,
    pre_impact_rel_vel_normal: -1,
    friction_coefficient: 0.6,
    tangent1: [1, 0, 0],
    tangent2: [0, 1, 0],
    normal_lambda: 0.2,
    tangent1_lambda: 0.01,
    tangent2_lambda: -0.02,
  }
  return JSON.stringify({
    frame_id: id,
    time: t,
    bodies: [
      {
        id: 1,
        position: [t, 0, 5 - t],
        velocity: [1, 0, -9.81 * t],
        orientation: [0.8, 0.6, 0, 0],
        angular_velocity: [0.1, 0.2, 0.3 * t],
        acceleration: [0, 0, -9.81],
      },
      { id: 2, position: [1, 2, 3], velocity: [0, 0, 0], orientation: [1, 0, 0, 0] },
    ],
    contacts: id % 3 === 0 ? [{ a: 1, b: 3, normal: [0, 0, -1], points: [point] }] : [],
    solver: { iterations: id % 7, residual: 1e-9, converged: true },
    ...change,
  })
}

/** Returns the frame lines from one id to another, inclusive. */
export const frameLines = (first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, i) => frameLine(first + i))

/** Yields lines as the body of a request, in pieces that end within lines. */
export async function* streamLines(lines: readonly string[], pieceBytes = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
