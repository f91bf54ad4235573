import {
  BufferGeometry,
  Color,
  ConeGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  Vector3,
} from 'three'
import type { Contact } from '../../data/replay.ts'
import type { Point3 } from '../../domain/fit.ts'
import type { StageColors } from '../../ui/canvas-colors.ts'

/** Maximum number of drawn contacts. */
export const maxContacts = 1024

export interface ShownMarks {
  readonly contacts?: boolean
  readonly forces?: boolean
  readonly pair?: readonly [number, number] | undefined
}

/** Length of the longest arrow as a fraction of the camera's distance. */
export const arrowFraction = 0.16

/** Contact points, and arrows for normal and friction forces, drawn over the bodies. */
export class ContactMarks {
  readonly root = new Group()
  readonly #points = new PointsMaterial({ size: 7, sizeAttenuation: false, depthTest: false })
  readonly #selectedPoints = new PointsMaterial({ size: 15, sizeAttenuation: false, depthTest: false })
  readonly #normal = new LineBasicMaterial({ depthTest: false })
  readonly #friction = new LineBasicMaterial({ depthTest: false })
  readonly #normalHead = new MeshBasicMaterial({ depthTest: false })
  readonly #frictionHead = new MeshBasicMaterial({ depthTest: false })

  constructor() {
    this.root.renderOrder = 3
  }

  recolor({ contact, normal, friction }: StageColors): void {
    this.#points.color = new Color(contact)
    this.#selectedPoints.color = new Color(normal)
    for (const material of [this.#normal, this.#normalHead]) material.color = new Color(normal)
    for (const material of [this.#friction, this.#frictionHead]) material.color = new Color(friction)
  }

  /** Replaces the marks. `distance` is the camera's distance, in m. */
  show(contacts: readonly Contact[], shownMarks: ShownMarks, distance: number): void {
    for (const child of this.root.children) (child as Mesh).geometry.dispose()
    this.root.clear()
    const drawnContacts = contacts.slice(0, maxContacts)
    const { pair } = shownMarks
    const selectedContacts = drawnContacts.filter(
      ({ body_a_id, body_b_id }) => pair?.includes(body_a_id) && pair.includes(body_b_id),
    )
    this.#addPoints(
      selectedContacts.flatMap(({ points }) => points),
      this.#selectedPoints,
    )
    if (shownMarks.contacts)
      this.#addPoints(
        drawnContacts.flatMap(({ points }) => points),
        this.#points,
      )
    if (!shownMarks.forces) return
    const sizes = drawnContacts.flatMap(({ normal_n, friction_n }) => [
      getSize(normal_n),
      getSize(friction_n),
    ])
    const largest = Math.max(0, ...sizes)
    if (largest === 0 || distance === 0) return
    const scale = (arrowFraction * distance) / largest
    for (const { at, normal_n, friction_n } of drawnContacts) {
      this.#addArrow(at, normal_n, { scale, line: this.#normal, head: this.#normalHead })
      this.#addArrow(at, friction_n, { scale, line: this.#friction, head: this.#frictionHead })
    }
  }

  #addPoints(points: readonly Point3[], material: PointsMaterial): void {
    const geometry = new BufferGeometry().setFromPoints(points.map((point) => new Vector3(...point)))
    const marks = new Points(geometry, material)
    marks.renderOrder = 4
    this.root.add(marks)
  }

  #addArrow(
    at: Point3,
    force: Point3 | null,
    { scale, line, head }: { scale: number; line: LineBasicMaterial; head: MeshBasicMaterial },
  ): void {
    const length = getSize(force) * scale
    if (force === null || length < 1e-3 * scale || !Number.isFinite(length)) return
    const from = new Vector3(...at)
    const to = from.clone().add(new Vector3(...force).multiplyScalar(scale))
    const shaft = new LineSegments(new BufferGeometry().setFromPoints([from, to]), line)
    const size = length * 0.3
    const cone = new Mesh(new ConeGeometry(size * 0.35, size, 12), head)
    const direction = to.clone().sub(from).normalize()
    cone.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), direction)
    cone.position.copy(to).addScaledVector(direction, -size / 2)
    for (const mesh of [shaft, cone]) mesh.renderOrder = 3
    this.root.add(shaft, cone)
  }
}

const getSize = (force: Point3 | null): number => (force === null ? 0 : Math.hypot(...force))
