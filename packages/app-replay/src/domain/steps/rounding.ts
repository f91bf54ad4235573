/**
 * Rounding of recorded numbers (docs/laws.md, Rounding): the grid of each quantity, found in its digits, and the largest
 * errors of a step that follow from it.
 */
import { energyAt, type FrameWindow, frictionAt, jointAt, stateAt } from '@causeway/recording'
import { length3, num, read3 } from './block.ts'
import type { Step } from './step.ts'

/** Distance of neighbouring numbers: the larger of a constant and a share of the number. 0 if exact. */
export interface Grid {
  readonly absolute: number
  readonly relative: number
}

export const exact: Grid = { absolute: 0, relative: 0 }

/** Grids of the recorded quantities in their units. */
export interface Rounding {
  readonly isExact: boolean
  readonly time: Grid
  readonly position: Grid
  readonly velocity: Grid
  readonly orientation: Grid
  readonly spin: Grid
  readonly energy: Grid
  readonly impulse: Grid
  /** Normals and tangents of contacts. */
  readonly direction: Grid
  /** Usual step in s, if times are rounded. */
  readonly dt: number
}

export const exactRounding: Rounding = {
  isExact: true,
  time: exact,
  position: exact,
  velocity: exact,
  orientation: exact,
  spin: exact,
  energy: exact,
  impulse: exact,
  direction: exact,
  dt: Number.NaN,
}

/** Largest errors of each body in a step, shape [bodies]. */
export interface StepErrors {
  /** m: of the displacement. */
  readonly moved: Float64Array
  /** m/s: of the change of velocity. */
  readonly changed: Float64Array
  /** rad: of the rotation. */
  readonly turned: Float64Array
  /** rad/s: of the change of angular velocity. */
  readonly spun: Float64Array
  /** N·s and N·m·s: of the sum of contacts and joints. */
  readonly impulse: Float64Array
  readonly torque: Float64Array
}

/** Numbers with more decimals and digits are exact. */
const maxDigits = 9

/** Different numbers that show a grid, and that are read. */
const [minValues, maxValues] = [12, 2000] as const

/** Decimals of recordings with few different numbers: at most so many, and the assumed ones. */
const fewDecimals = { max: 6, assumed: 4 } as const

/** Share of a number by which float32 steps. */
const singleStep = 2 ** -23

/** Finds the grid of numbers in their shortest decimal form. */
export class GridMeter {
  readonly #values = new Set<number>()
  readonly #decimals: number[] = []
  readonly #digits: number[] = []
  #isSingle = true
  #isExact = false

  add(value: number): void {
    const size = Math.abs(value)
    if (this.#isExact || !(size > 0) || size === Number.POSITIVE_INFINITY) return
    if (this.#values.size >= maxValues || this.#values.has(size)) return
    this.#values.add(size)
    this.#isSingle &&= Math.fround(size) === size
    const [mantissa = '', exponent = '0'] = size.toString().split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    const decimals = Math.max(0, fraction.length - Number(exponent))
    const digits = `${whole}${fraction}`.replace(/^0+/, '').length
    this.#decimals[decimals] = (this.#decimals[decimals] ?? 0) + 1
    this.#digits[digits] = (this.#digits[digits] ?? 0) + 1
    this.#isExact = !this.#isSingle && this.#maxDecimals > maxDigits && this.#maxDigits > maxDigits
  }

  get #maxDecimals(): number {
    return this.#decimals.length - 1
  }

  get #maxDigits(): number {
    return this.#digits.length - 1
  }

  /** `undefined` if the numbers are too few. */
  get grid(): Grid | undefined {
    if (this.#isExact) return exact
    if (this.#values.size < minValues) return undefined
    if (this.#maxDigits > maxDigits && this.#maxDecimals > maxDigits)
      return { absolute: 0, relative: singleStep }
    // Almost every number has the largest count of the kind to which it is rounded.
    const isAbsolute =
      this.#maxDecimals <= maxDigits &&
      (this.#maxDigits > maxDigits ||
        (this.#decimals[this.#maxDecimals] ?? 0) >= (this.#digits[this.#maxDigits] ?? 0))
    if (isAbsolute) return { absolute: 10 ** -this.#maxDecimals, relative: 0 }
    const relative = 10 ** (1 - this.#maxDigits)
    // The shortest form of a float32 has 7 to 9 digits.
    return { absolute: 0, relative: this.#maxDigits < 7 ? relative : Math.max(relative, singleStep) }
  }

  /** The grid; of too few numbers the other one if it contains them, or else the assumed one. */
  or(other: Grid, assumed = exact): Grid {
    const own = this.grid
    if (own !== undefined) return own
    if (!isRounded(other)) return this.#maxDecimals > fewDecimals.max ? exact : assumed
    const isWithin =
      10 ** -this.#maxDecimals > 0.9 * other.absolute && 10 ** (1 - this.#maxDigits) > 0.9 * other.relative
    return isWithin || (this.#isSingle && other.relative === singleStep) ? other : exact
  }
}

/** Largest error of a number of this size. */
export const getError = ({ absolute, relative }: Grid, size: number): number =>
  Math.max(absolute, relative * size) / 2

const isRounded = ({ absolute, relative }: Grid): boolean => absolute > 0 || relative > 0

/** Largest error of a constant that is rounded like the states. */
export function getConstantError({ position }: Rounding, value: number): number {
  if (!isRounded(position)) return 0
  const meter = new GridMeter()
  meter.add(value)
  return getError(meter.or(position), Math.abs(value))
}

/** Reads the grids of a sample of frames. `dt` is the usual step in s. */
export class RoundingMeter {
  readonly #meters = {
    time: new GridMeter(),
    position: new GridMeter(),
    velocity: new GridMeter(),
    orientation: new GridMeter(),
    spin: new GridMeter(),
    energy: new GridMeter(),
    impulse: new GridMeter(),
    direction: new GridMeter(),
  }
  readonly #steps: number[] = []

  add({ from, to, frames, times, bodies, states, energies, friction, joints }: FrameWindow): void {
    const meters = this.#meters
    const addRange = (meter: GridMeter, data: Float64Array, at: number, width: number): void => {
      for (let i = at; i < at + width; i++) meter.add(num(data, i))
    }
    for (let row = from; row < to; row++) {
      meters.time.add(num(times, row))
      if (row > 0 && num(frames, row - 1) === num(frames, row) - 1)
        this.#steps.push(num(times, row) - num(times, row - 1))
      for (let column = 0; column < bodies.length; column++) {
        const at = (row * bodies.length + column) * stateAt.width
        addRange(meters.position, states.data, at + stateAt.position, 3)
        addRange(meters.velocity, states.data, at + stateAt.velocity, 3)
        addRange(meters.orientation, states.data, at + stateAt.orientation, 4)
        addRange(meters.spin, states.data, at + stateAt.spin, 3)
        addRange(meters.energy, energies.data, (row * bodies.length + column) * energyAt.width, 3)
      }
      for (let i = friction.offset[row] ?? 0; i < (friction.offset[row + 1] ?? 0); i++) {
        const at = i * frictionAt.width
        addRange(meters.impulse, friction.data.data, at + frictionAt.n, 3)
        addRange(meters.direction, friction.data.data, at + frictionAt.normal, 9)
      }
      for (let i = joints.offset[row] ?? 0; i < (joints.offset[row + 1] ?? 0); i++)
        addRange(meters.impulse, joints.data.data, i * jointAt.width + jointAt.impulse, 6)
    }
  }

  measure(dt: number): Rounding {
    const { time, position, velocity, orientation, spin, energy, impulse, direction } = this.#meters
    const known = [position, velocity, orientation, impulse].flatMap(({ grid }) => grid ?? [])
    const usual = known.find(isRounded) ?? exact
    const assumed = known.length > 0 ? exact : { absolute: 10 ** -fewDecimals.assumed, relative: 0 }
    const grids = {
      time: time.or(usual),
      position: position.or(usual, assumed),
      velocity: velocity.or(usual, assumed),
      orientation: orientation.or(usual, assumed),
      spin: spin.or(usual, assumed),
      energy: energy.or(usual, assumed),
      impulse: impulse.or(usual, assumed),
      direction: direction.or(usual, assumed),
    }
    // Spins of the world frame are converted with the orientation.
    const isConverted = isRounded(grids.orientation) && !isRounded(grids.spin)
    return {
      ...grids,
      spin: isConverted ? grids.velocity : grids.spin,
      isExact: !Object.values(grids).some(isRounded),
      dt: this.#measureStep(grids.time, dt),
    }
  }

  /** s: the mean of the steps that differ only by rounding. */
  #measureStep(grid: Grid, dt: number): number {
    if (!(grid.absolute > 0)) return dt
    const same = this.#steps.filter((one) => Math.abs(one - dt) < 1.01 * grid.absolute)
    return same.length === 0 ? dt : same.reduce((sum, one) => sum + one, 0) / same.length
  }
}

export const createStepErrors = (count: number): StepErrors => ({
  moved: new Float64Array(count),
  changed: new Float64Array(count),
  turned: new Float64Array(count),
  spun: new Float64Array(count),
  impulse: new Float64Array(count),
  torque: new Float64Array(count),
})

/** Errors of three components that all have the largest error. */
const diagonal = Math.sqrt(3)

/** Computes the errors of a step. Those of exact recordings stay 0. */
export function measureErrors(step: Step): void {
  const { scene, row, errors, window } = step
  const { rounding } = scene
  if (rounding.isExact) return
  const s = window.states.data
  for (let column = 0; row > 0 && column < scene.bodies.length; column++) {
    const [at, was] = [step.at(column), step.atBefore(column)]
    const measure = (grid: Grid, part: number, width: number): number => {
      if (grid.relative === 0) return 2 * getError(grid, 0)
      let size = 0
      for (let i = part; i < part + width; i++)
        size = Math.max(size, Math.abs(num(s, at + i)) || 0, Math.abs(num(s, was + i)) || 0)
      return 2 * getError(grid, size)
    }
    errors.moved[column] = diagonal * measure(rounding.position, stateAt.position, 3)
    errors.changed[column] = diagonal * measure(rounding.velocity, stateAt.velocity, 3)
    // The angle is twice the error of a quaternion, which has four components.
    const turned = 4 * measure(rounding.orientation, stateAt.orientation, 4)
    errors.turned[column] = turned
    const spin = rounding.spin === rounding.velocity ? length3(...read3(s, at + stateAt.spin)) || 0 : 0
    errors.spun[column] = diagonal * measure(rounding.spin, stateAt.spin, 3) + turned * spin
  }
  measureContactErrors(step)
  measureJointErrors(step)
}

function measureContactErrors({ scene, window, row, dt, errors, at, atBefore }: Step): void {
  const { rounding, columnById, massErrors, g } = scene
  errors.impulse.fill(0)
  errors.torque.fill(0)
  const s = window.states.data
  for (let column = 0; column < scene.bodies.length; column++) {
    const [v, u] = [read3(s, at(column) + stateAt.velocity), read3(s, atBefore(column) + stateAt.velocity)]
    const change = length3(v[0] - u[0], v[1] - u[1], v[2] - u[2])
    errors.impulse[column] = num(massErrors, column) * ((change || 0) + (g * dt || 0))
  }
  const { offset, data } = window.friction
  const block = data.data
  const factor = scene.impulseFactor(dt)
  for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
    const row = i * frictionAt.width
    const [n, t1, t2] = [frictionAt.n, frictionAt.t1, frictionAt.t2].map(
      (part) => Math.abs(num(block, row + part)) || 0,
    ) as [number, number, number]
    const size = n + t1 + t2
    const impulse =
      getError(rounding.impulse, n) +
      getError(rounding.impulse, t1) +
      getError(rounding.impulse, t2) +
      diagonal * getError(rounding.direction, 1) * size
    for (const [end, arm] of [
      [frictionAt.a, frictionAt.leverA],
      [frictionAt.b, frictionAt.leverB],
    ] as const) {
      const column = columnById.get(num(block, row + end))
      if (column === undefined) continue
      const lever = length3(...read3(block, row + arm)) || 0
      errors.impulse[column] = num(errors.impulse, column) + (factor * impulse || 0)
      // A lever arm is the difference of two positions.
      const torque = lever * impulse + num(errors.moved, column) * size
      errors.torque[column] = num(errors.torque, column) + (factor * torque || 0)
    }
  }
}

function measureJointErrors({ scene, window, row, dt, errors, at }: Step): void {
  const { rounding, columnById } = scene
  const { offset, data } = window.joints
  const block = data.data
  const factor = scene.impulseFactor(dt)
  for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
    const joint = i * jointAt.width
    const size = length3(...read3(block, joint + jointAt.impulse))
    const impulse = diagonal * getError(rounding.impulse, size)
    const turning = diagonal * getError(rounding.impulse, length3(...read3(block, joint + jointAt.torque)))
    for (const end of [jointAt.a, jointAt.b]) {
      const column = columnById.get(num(block, joint + end))
      if (column === undefined) continue
      const [point, centre] = [read3(block, joint + jointAt.point), read3(window.states.data, at(column))]
      const lever = length3(point[0] - centre[0], point[1] - centre[1], point[2] - centre[2])
      const torque = turning + lever * impulse + num(errors.moved, column) * size
      errors.impulse[column] = num(errors.impulse, column) + (factor * impulse || 0)
      errors.torque[column] = num(errors.torque, column) + (factor * torque || 0)
    }
  }
}
