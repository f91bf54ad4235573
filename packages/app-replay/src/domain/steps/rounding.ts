/** Rounding of recorded numbers (docs/laws.md, Rounding). */
import { energyAt, type FrameWindow, frictionAt, jointAt, stateAt } from '@causeway/recording'
import { num } from './block.ts'

/** Distance between neighbouring numbers: the larger of a constant and a multiple of the number. 0 means exact. */
export interface Grid {
  readonly absolute: number
  readonly relative: number
}

const exactGrid: Grid = { absolute: 0, relative: 0 }

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
  time: exactGrid,
  position: exactGrid,
  velocity: exactGrid,
  orientation: exactGrid,
  spin: exactGrid,
  energy: exactGrid,
  impulse: exactGrid,
  direction: exactGrid,
  dt: Number.NaN,
}

/** Numbers with more decimals and more digits count as exact. */
const maxDigits = 9

/** Minimum and maximum number of distinct values from which a grid is computed. */
const [minValues, maxValues] = [12, 2000] as const

/** More than `max` decimals mean exact or float16 numbers; too few numbers get `assumed` decimals. */
const decimalRule = { max: 6, assumed: 4 } as const

/** Relative spacing of float32 and float16 numbers. */
const [singleStep, halfStep] = [2 ** -23, 2 ** -10] as const

const halfGrid: Grid = { absolute: 0, relative: halfStep }

/** Minimum range, in steps of the smallest binary fraction, that excludes a common grid. */
const minHalfRange = 2 ** 13

/** Whether a positive number has at most 11 binary digits. */
const fitsHalf = (size: number): boolean => Number.isInteger(size / 2 ** (Math.floor(Math.log2(size)) - 10))

/** Finds the grid of numbers from their shortest decimal form. */
class GridMeter {
  readonly #values = new Set<number>()
  readonly #decimals: number[] = []
  readonly #digits: number[] = []
  #isSingle = true
  #fitsHalf = true
  #max = 0
  #isExact = false

  add(value: number): void {
    const size = Math.abs(value)
    if (this.#isExact || !(size > 0) || size === Number.POSITIVE_INFINITY) return
    if (this.#values.size >= maxValues || this.#values.has(size)) return
    this.#values.add(size)
    this.#isSingle &&= Math.fround(size) === size
    this.#fitsHalf &&= fitsHalf(size)
    this.#max = Math.max(this.#max, size)
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

  get fitsHalf(): boolean {
    return this.#fitsHalf
  }

  /** Whether float16 fits and the numbers lack a common binary grid. */
  get isHalf(): boolean {
    if (!this.#fitsHalf || this.#values.size < minValues || this.#maxDecimals <= decimalRule.max) return false
    // A binary fraction has as many binary digits as decimals.
    return this.#max * 2 ** this.#maxDecimals >= minHalfRange
  }

  /** Returns `undefined` if there are too few numbers. */
  get grid(): Grid | undefined {
    if (this.#isExact) return exactGrid
    if (this.#values.size < minValues) return undefined
    if (this.#maxDigits > maxDigits && this.#maxDecimals > maxDigits)
      return { absolute: 0, relative: singleStep }
    // If numbers were rounded to decimals, more of them have the maximum of decimals than of digits.
    const isAbsolute =
      this.#maxDecimals <= maxDigits &&
      (this.#maxDigits > maxDigits ||
        (this.#decimals[this.#maxDecimals] ?? 0) >= (this.#digits[this.#maxDigits] ?? 0))
    if (isAbsolute) return { absolute: 10 ** -this.#maxDecimals, relative: 0 }
    const relative = 10 ** (1 - this.#maxDigits)
    // The shortest form of a float32 has 7 to 9 digits.
    return { absolute: 0, relative: this.#maxDigits < 7 ? relative : Math.max(relative, singleStep) }
  }

  /** For too few numbers, returns `other` if it contains them, otherwise `exactGrid` or `assumed`. */
  getGridOr(other: Grid, assumed = exactGrid): Grid {
    const measuredGrid = this.grid
    if (measuredGrid !== undefined) return measuredGrid
    if (!isRounded(other)) return this.#maxDecimals > decimalRule.max ? exactGrid : assumed
    const isContained =
      10 ** -this.#maxDecimals > 0.9 * other.absolute && 10 ** (1 - this.#maxDigits) > 0.9 * other.relative
    return isContained || (this.#isSingle && other.relative === singleStep) ? other : exactGrid
  }
}

export const getError = ({ absolute, relative }: Grid, size: number): number =>
  Math.max(absolute, relative * size) / 2

const isRounded = ({ absolute, relative }: Grid): boolean => absolute > 0 || relative > 0

/** Returns the largest error of a constant that is rounded like the states. */
export function getConstantError({ position }: Rounding, value: number): number {
  if (!isRounded(position)) return 0
  const meter = new GridMeter()
  meter.add(value)
  return getError(meter.getGridOr(position), Math.abs(value))
}

/** `dt` is the usual step in s. */
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
    // Numbers of one quantity can have few binary digits by chance.
    const isHalf = orientation.isHalf && [position, velocity, spin].some((meter) => meter.isHalf)
    const knownGrids = [position, velocity, orientation, impulse].flatMap(({ grid }) => grid ?? [])
    const usual = (isHalf ? undefined : knownGrids.find(isRounded)) ?? exactGrid
    const assumed = knownGrids.length > 0 ? exactGrid : { absolute: 10 ** -decimalRule.assumed, relative: 0 }
    const measureGrid = (meter: GridMeter): Grid =>
      isHalf && meter.fitsHalf ? halfGrid : meter.getGridOr(usual, assumed)
    const grids = {
      time: time.getGridOr(usual),
      position: measureGrid(position),
      velocity: measureGrid(velocity),
      orientation: measureGrid(orientation),
      spin: measureGrid(spin),
      energy: measureGrid(energy),
      impulse: measureGrid(impulse),
      direction: measureGrid(direction),
    }
    // Conversion with the orientation hides the rounding of spins in the world frame.
    const isConverted = isRounded(grids.orientation) && !isRounded(grids.spin)
    return {
      ...grids,
      spin: isConverted ? grids.velocity : grids.spin,
      isExact: !Object.values(grids).some(isRounded),
      dt: this.#measureStep(grids.time, dt),
    }
  }

  /** Returns the mean of the steps that differ only by rounding, in s. */
  #measureStep(grid: Grid, dt: number): number {
    if (!(grid.absolute > 0)) return dt
    const equalSteps = this.#steps.filter((sample) => Math.abs(sample - dt) < 1.01 * grid.absolute)
    return equalSteps.length === 0
      ? dt
      : equalSteps.reduce((sum, sample) => sum + sample, 0) / equalSteps.length
  }
}
