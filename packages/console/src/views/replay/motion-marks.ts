import { BufferGeometry, Group, LineBasicMaterial, LineSegments, Vector3 } from 'three'
import { getPosition, isDrawable, type PoseRow } from '../../data/poses.ts'
import type { Velocity } from '../../domain/bodies.ts'
import type { StageColors } from '../../ui/canvas-colors.ts'
import { arrowFraction } from './contact-marks.ts'

/** Number of frames of a trail, including the shown one. */
export const maxTrailFrames = 90

/** Maximum number of trails while no body is selected. */
const maxTrails = 100

/** Velocity arrows with open heads, and trails, drawn over the bodies. */
export class MotionMarks {
  readonly root = new Group()
  readonly #arrows = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ depthTest: false }))
  readonly #trails = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ depthTest: false }))

  constructor() {
    for (const lines of [this.#arrows, this.#trails]) {
      lines.frustumCulled = false
      lines.renderOrder = 3
      this.root.add(lines)
    }
  }

  recolor({ velocity, selection }: StageColors): void {
    this.#arrows.material.color.set(velocity)
    this.#trails.material.color.set(selection)
  }

  /** Replaces the arrows. `distance` is the camera's distance, in m. */
  showVelocities(row: PoseRow | undefined, velocities: readonly Velocity[], distance: number): void {
    const maxSpeed = Math.max(0, ...velocities.map(({ velocity }) => Math.hypot(...velocity)))
    const points = velocities.flatMap(({ body, velocity }) => {
      const column = row?.chunk.columns.get(body)
      const isMoving = Math.hypot(...velocity) > 1e-3 * maxSpeed && Number.isFinite(maxSpeed)
      if (row === undefined || column === undefined || !isMoving || !isDrawable(row, column)) return []
      const scale = (arrowFraction * distance) / maxSpeed
      return createArrow(
        new Vector3(...getPosition(row, column)),
        new Vector3(...velocity).multiplyScalar(scale),
      )
    })
    replace(this.#arrows, new BufferGeometry().setFromPoints(points))
  }

  /** Replaces the trails. `rows` are the last frames, newest first. */
  showTrails(rows: readonly PoseRow[], selected: number | undefined): void {
    const ids = selected === undefined ? (rows[0]?.chunk.bodies ?? []).slice(0, maxTrails) : [selected]
    const points = ids.flatMap((id) => {
      const path = rows.map((row) => {
        const column = row.chunk.columns.get(id)
        return column !== undefined && isDrawable(row, column)
          ? new Vector3(...getPosition(row, column))
          : undefined
      })
      return path.slice(1).flatMap((olderPose, index) => {
        const newerPose = path[index]
        return newerPose === undefined || olderPose === undefined ? [] : [newerPose, olderPose]
      })
    })
    replace(this.#trails, new BufferGeometry().setFromPoints(points))
  }

  dispose(): void {
    for (const { geometry } of [this.#arrows, this.#trails]) geometry.dispose()
  }
}

function replace(lines: LineSegments, geometry: BufferGeometry): void {
  lines.geometry.dispose()
  lines.geometry = geometry
}

function createArrow(from: Vector3, vector: Vector3): Vector3[] {
  const to = from.clone().add(vector)
  const side = new Vector3(0, 0, 1).cross(vector)
  if (side.lengthSq() < 1e-6 * vector.lengthSq()) side.set(1, 0, 0)
  side.setLength(vector.length() * 0.1)
  const otherSide = side.clone().cross(vector).setLength(side.length())
  const base = to.clone().addScaledVector(vector, -0.25)
  const edges = [side, side.clone().negate(), otherSide, otherSide.clone().negate()]
  return [from, to, ...edges.flatMap((edge) => [to, base.clone().add(edge)])]
}
