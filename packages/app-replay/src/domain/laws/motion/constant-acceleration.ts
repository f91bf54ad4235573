import { createFinding, type Finding } from '../../findings/finding.ts'
import { formatNumber } from '../../sentence.ts'
import { length3 } from '../../steps/block.ts'
import type { Run } from '../../steps/run.ts'
import type { Scene } from '../../steps/scene.ts'
import type { Point3 } from '../../vector.ts'

/** Minimum frames, and maximum deviation as a share of the mean. */
const rule = { frames: 10, spread: 0.05 } as const

/** Cosine of 5 degrees. */
const alongGravity = 0.996

interface UnexplainedSum {
  /** Sum over `judged` frames in m/s², and sum of squares. */
  readonly acceleration: Point3
  readonly squares: number
  readonly judged: number
}

export class ConstantAccelerations {
  readonly #scene: Scene | undefined
  readonly #groups: { run: Run; readonly vector: Point3; readonly bodies: number[] }[] = []

  constructor(scene: Scene | undefined) {
    this.#scene = scene
  }

  /** Returns whether the run's acceleration is constant. */
  add(run: Run, { acceleration, squares, judged }: UnexplainedSum): boolean {
    if (judged < rule.frames || judged < 0.8 * run.frames) return false
    const vector: Point3 = [acceleration[0] / judged, acceleration[1] / judged, acceleration[2] / judged]
    const size = length3(...vector)
    const variance = Math.max(0, squares / judged - size ** 2)
    if (!(Math.sqrt(variance) <= rule.spread * size)) return false
    const same = this.#groups.find(
      (group) =>
        length3(vector[0] - group.vector[0], vector[1] - group.vector[1], vector[2] - group.vector[2]) <=
        rule.spread * size,
    )
    if (same === undefined) {
      this.#groups.push({ run: { ...run }, vector, bodies: [...run.bodies] })
      return true
    }
    same.run = {
      ...same.run,
      last: Math.max(same.run.last, run.last),
      frames: Math.max(same.run.frames, run.frames),
    }
    for (const body of run.bodies) if (!same.bodies.includes(body)) same.bodies.push(body)
    return true
  }

  get findings(): readonly Finding[] {
    return this.#groups.map(({ run, vector, bodies }) =>
      createFinding(
        { ...run, bodies: bodies.toSorted((a, b) => a - b) },
        {
          kind: 'unexplained_acceleration',
          unit: 'm/s²',
          confidence: 0.9,
          value: length3(...vector),
          limit: 0.01 * (this.#scene?.g ?? 0),
          text: describeAcceleration(vector, this.#scene),
        },
      ),
    )
  }
}

function describeAcceleration(vector: Point3, scene: Scene | undefined): string {
  const [x, y, z] = vector
  const digit = 10 ** (Math.floor(Math.log10(length3(x, y, z))) - 2)
  const parts = vector.map((part) => formatNumber(Number((Math.round(part / digit) * digit).toPrecision(6))))
  const text = `has an unexplained acceleration of (${parts.join(', ')}) m/s²`
  if (scene === undefined || !(scene.g > 0)) return text
  const [gx, gy, gz] = scene.gravity
  const along = (x * gx + y * gy + z * gz) / scene.g
  if (!(Math.abs(along) > alongGravity * length3(x, y, z)) || !(scene.g + along > 0)) return text
  const fall = formatNumber(Number((scene.g + along).toPrecision(4)))
  return `falls with ${fall} m/s², but the recorded gravity is ${formatNumber(scene.g)} m/s²`
}
