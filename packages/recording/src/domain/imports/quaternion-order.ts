import { multiply, type Quaternion4, type Vector3 } from './rigid-transform.ts'

export type QuaternionOrder = 'wxyz' | 'xyzw'
export type SpinFrame = 'world' | 'body'

interface OrderSamples {
  /** Times in s. */
  readonly times: ArrayLike<number>
  /** Quaternions in file order, shape [samples, 4]. */
  readonly quaternions: ArrayLike<number>
  /** Angular velocities in rad/s, shape [samples, 3]. */
  readonly spins: ArrayLike<number>
}

/** `errors` contains the relative error of each order in its better frame. */
interface OrderDecision {
  readonly order: QuaternionOrder | null
  /** Frame of the angular velocity; null if both frames or neither agree with the poses. */
  readonly frame: SpinFrame | null
  readonly errors: Readonly<Record<QuaternionOrder, number>>
}

/** Maximum relative error. Semi-implicit integrators stay below it. */
const maxError = 0.2

/** Minimum ratio of the errors of the two orders. */
const minRatio = 4

/** Minimum sum of the rotation angles, in rad. Rounding hides smaller rotations. */
const minRotation = 0.02

const readQuaternion = (values: ArrayLike<number>, at: number, order: QuaternionOrder): Quaternion4 => {
  const [a = NaN, b = NaN, c = NaN, d = NaN] = [values[at], values[at + 1], values[at + 2], values[at + 3]]
  return order === 'wxyz' ? [a, b, c, d] : [d, a, b, c]
}

const conjugate = ([w, x, y, z]: Quaternion4): Quaternion4 => [w, -x, -y, -z]

/** Returns a rotation vector in rad. */
function toRotation([w, x, y, z]: Quaternion4): Vector3 {
  const length = Math.hypot(x, y, z)
  if (length === 0) return [0, 0, 0]
  const scale = (2 * Math.atan2(length, Math.abs(w)) * (w < 0 ? -1 : 1)) / length
  return [x * scale, y * scale, z * scale]
}

/** Returns the order and frame in which the rotation between poses matches the mean angular velocity. */
export function decideOrder({ times, quaternions, spins }: OrderSamples): OrderDecision {
  const candidates = (['wxyz', 'xyzw'] as const).flatMap((order) =>
    (['world', 'body'] as const).map((frame) => ({ order, frame, squares: 0 })),
  )
  let [rotation, squares] = [0, 0]
  for (let i = 0; i + 1 < times.length; i++) {
    const dt = (times[i + 1] ?? NaN) - (times[i] ?? NaN)
    const mean = [0, 1, 2].map((k) => ((spins[3 * i + k] ?? NaN) + (spins[3 * i + 3 + k] ?? NaN)) / 2)
    const isKnown = dt > 0 && mean.every(Number.isFinite)
    const size = Math.hypot(...mean) * dt
    // Beyond half a turn, the rotation is ambiguous.
    if (!isKnown || size > 3) continue
    const candidateRotations = candidates.map(({ order, frame }) => {
      const [from, to] = [
        readQuaternion(quaternions, 4 * i, order),
        readQuaternion(quaternions, 4 * i + 4, order),
      ]
      return toRotation(frame === 'world' ? multiply(to, conjugate(from)) : multiply(conjugate(from), to))
    })
    if (!candidateRotations.flat().every(Number.isFinite)) continue
    rotation += size
    squares += size ** 2
    for (const [c, candidateRotation] of candidateRotations.entries()) {
      const candidate = candidates[c]
      if (candidate)
        candidate.squares += candidateRotation.reduce((sum, x, k) => sum + (x - (mean[k] ?? 0) * dt) ** 2, 0)
    }
  }
  const scoredCandidates = candidates.map(({ order, frame, squares: residualSquares }) => ({
    order,
    frame,
    error: Math.sqrt(residualSquares / squares),
  }))
  return chooseOrder(scoredCandidates, rotation)
}

function chooseOrder(
  scoredCandidates: readonly {
    readonly order: QuaternionOrder
    readonly frame: SpinFrame
    readonly error: number
  }[],
  rotation: number,
): OrderDecision {
  const getMinError = (order: QuaternionOrder) =>
    Math.min(...scoredCandidates.filter((candidate) => candidate.order === order).map(({ error }) => error))
  const errors = { wxyz: getMinError('wxyz'), xyzw: getMinError('xyzw') }
  const [betterOrder, worseOrder] =
    errors.wxyz < errors.xyzw ? (['wxyz', 'xyzw'] as const) : (['xyzw', 'wxyz'] as const)
  const isDecided =
    rotation >= minRotation &&
    errors[betterOrder] <= maxError &&
    errors[worseOrder] >= minRatio * errors[betterOrder]
  if (!isDecided) return { order: null, frame: null, errors }
  const rankedFrames = scoredCandidates
    .filter(({ order }) => order === betterOrder)
    .sort((a, b) => a.error - b.error)
  const [first, second] = rankedFrames
  const isFrameClear =
    first !== undefined && second !== undefined && second.error >= 2 * first.error && second.error > 0.01
  return { order: betterOrder, frame: isFrameClear ? first.frame : null, errors }
}
