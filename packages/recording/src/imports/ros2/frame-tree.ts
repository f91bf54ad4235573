import { compose, type Pose, rotate, type Vector3 } from '../../domain/imports/rigid-transform.ts'
import { createDamageError } from '../tables/table.ts'
import type { PoseSamples } from './pose-samples.ts'

const maxDepth = 64

export interface BodyState extends Pose {
  readonly velocity: Vector3 | null
  /** Angular velocity in the body frame. */
  readonly spin: Vector3 | null
}

export class FrameNames {
  readonly #numbers = new Map<string, number>()
  readonly names: string[] = []

  add(name: string): number {
    const existing = this.#numbers.get(name)
    if (existing !== undefined) return existing
    this.#numbers.set(name, this.names.length)
    this.names.push(name)
    return this.names.length - 1
  }

  find(name: string): number | undefined {
    return this.#numbers.get(name)
  }
}

interface Edge {
  readonly parent: number
  readonly pose: Pose
}

/** Resolves the poses of one time, without interpolation. */
export class FrameTree {
  readonly #samples: PoseSamples
  readonly #path: string
  readonly #static = new Map<number, Edge>()
  /** Parents of moving frames at any time. */
  readonly #parents = new Map<number, number>()

  constructor(samples: PoseSamples, path: string) {
    this.#samples = samples
    this.#path = path
    for (let i = 0; i < samples.count; i++) this.#parents.set(samples.child(i), samples.parent(i))
  }

  addStatic(child: number, parent: number, pose: Pose): void {
    this.#static.set(child, { parent, pose })
  }

  get moving(): readonly number[] {
    return [...this.#parents.keys()]
  }

  /** Throws `RECORDING_DAMAGED` for a cycle. */
  findRoot(frame: number): number {
    return this.#findAncestor(
      frame,
      (ancestor) => this.#parents.get(ancestor) ?? this.#static.get(ancestor)?.parent,
    )
  }

  /** Returns the state in the fixed frame; null if a parent has no transform in `present`. */
  resolve(sample: number, fixed: number, present: ReadonlyMap<number, number>): BodyState | null {
    const numbers = this.#samples.numbers(sample)
    let pose = toPose(numbers)
    let isParentFixed = true
    for (let frame = this.#samples.parent(sample), depth = 0; frame !== fixed; depth++) {
      if (depth > maxDepth) throw this.#createCycleError(frame)
      const staticEdge = this.#static.get(frame)
      const moving = present.get(frame)
      if (staticEdge !== undefined) {
        pose = compose(staticEdge.pose, pose)
        frame = staticEdge.parent
      } else if (moving !== undefined) {
        isParentFixed = false
        pose = compose(toPose(this.#samples.numbers(moving)), pose)
        frame = this.#samples.parent(moving)
      } else return null
    }
    const [velocity, spin] = [readTriple(numbers, 7), readTriple(numbers, 10)]
    // A twist is relative to the parent, in the axes of the child.
    return {
      ...pose,
      velocity: isParentFixed && velocity ? rotate(pose.orientation, velocity) : null,
      spin: isParentFixed ? spin : null,
    }
  }

  #findAncestor(frame: number, getParent: (frame: number) => number | undefined): number {
    let current = frame
    for (let depth = 0; ; depth++) {
      const parent = getParent(current)
      if (parent === undefined) return current
      if (depth > maxDepth) throw this.#createCycleError(frame)
      current = parent
    }
  }

  #createCycleError(frame: number) {
    return createDamageError(
      `the frames above frame ${frame} are a cycle, or more than ${maxDepth}`,
      this.#path,
    )
  }
}

const toPose = (numbers: Float64Array): Pose => {
  const [x = NaN, y = NaN, z = NaN, a = NaN, b = NaN, c = NaN, d = NaN] = numbers
  return { position: [x, y, z], orientation: [a, b, c, d] }
}

function readTriple(numbers: Float64Array, at: number): Vector3 | null {
  const [x = NaN, y = NaN, z = NaN] = numbers.subarray(at, at + 3)
  return Number.isNaN(x) && Number.isNaN(y) && Number.isNaN(z) ? null : [x, y, z]
}
