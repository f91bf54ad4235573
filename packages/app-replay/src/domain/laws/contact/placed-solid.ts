/** Recorded shapes with their poses before a step. */
import { type BodyId, stateAt } from '@causeway/recording'
import { type Pose, type Solid, toSolid } from '../../shapes/solid.ts'
import { readPose } from '../../steps/block.ts'
import { isEnvironment, type Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'

export interface PlacedSolid {
  readonly body: BodyId
  /** -1 for the environment. */
  readonly column: number
  readonly solid: Solid
  /** `null` if unknown. */
  pose: Pose | null
  /** Radius of the bounding sphere around the pose, m. */
  readonly bound: number
}

export function placeSolids(scene: Scene): readonly PlacedSolid[] {
  return [...scene.geometry.values()].flatMap((geometry) => {
    const solid = toSolid(geometry)
    const column = scene.columnById.get(geometry.body_id) ?? -1
    if (solid === undefined || (column < 0 && !isEnvironment(scene, geometry.body_id))) return []
    const [x = 0, y = 0, z = 0] = geometry.position ?? []
    const [w = 1, i = 0, j = 0, k = 0] = geometry.orientation ?? []
    const pose =
      column >= 0 || geometry.position === null ? null : ({ at: [x, y, z], rotation: [w, i, j, k] } as const)
    return [{ body: geometry.body_id, column, solid, pose, bound: solid.bound }]
  })
}

export function moveSolids(step: Step, placed: readonly PlacedSolid[]): void {
  for (const solid of placed) if (solid.column >= 0) solid.pose = readSolidPose(step, solid, step.row - 1)
}

export function readSolidPose(step: Step, { column, solid }: PlacedSolid, row: number): Pose | null {
  const from = (row * step.scene.bodies.length + column) * stateAt.width
  const pose = readPose(step.window.states.data, from)
  const { at, rotation } = pose
  if (!at.every(Number.isFinite)) return null
  if (rotation.every(Number.isFinite)) return pose
  return solid.kind === 'round' && solid.halfLength === 0 ? { at, rotation: [1, 0, 0, 0] } : null
}
