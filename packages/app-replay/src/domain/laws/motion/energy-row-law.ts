/** Law `energy_rows` (docs/laws.md, Energy). */
import { energyAt, stateAt, systemAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, length3, num, read3 } from '../../steps/block.ts'
import { getError } from '../../steps/rounding.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import { add, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'
import { measureEnergyError } from './body-balance.ts'

/** Tolerances relative to the compared energy (`relative`) and to the largest energy (`rounding`). */
const tolerance = { relative: 1e-3, rounding: 1e-5 } as const

const texts = {
  linear: 'has a linear energy that is not m v² / 2',
  rotational: 'has a rotational energy that is not ω·Iω / 2',
  potential: 'has a potential energy that does not follow its height',
  total: 'has a total energy that is not the sum of its parts',
  system: 'the energy of the system is not the sum over its bodies',
} as const

type EnergyPart = keyof typeof texts

export function energyRowLaw(): Law {
  const runs = Object.fromEntries(Object.keys(texts).map((part) => [part, new RunCollector(2)])) as Readonly<
    Record<EnergyPart, RunCollector>
  >
  const motion = new MotionEnergy()
  const compareEnergies = (
    part: EnergyPart,
    step: Step,
    { recorded, expected, size, largest, body, error }: EnergyComparison,
  ): void => {
    const difference = Math.abs(recorded - expected)
    const limit = tolerance.relative * size + tolerance.rounding * largest + 1e-9 + error
    if (!(difference > limit)) return
    const bodies = body === null ? [] : [body]
    runs[part].add(body ?? '', step.frame, { value: difference, limit }, { bodies, pair: null })
  }
  return {
    observe(step) {
      const { scene, window, row } = step
      const count = scene.bodies.length
      const energies = window.energies.data
      let [sum, size, errors] = [0, 0, 0]
      for (let column = 0; column < count; column++) {
        const body = scene.bodies[column] ?? 0
        const [linear, rotational, potential, total] = readEnergies(
          energies,
          (row * count + column) * energyAt.width,
        )
        const largest = getMaxSize(linear, rotational, potential, total)
        const error = measureRowError(step, column, largest)
        const compareRow = (
          part: EnergyPart,
          recorded: number,
          expected: number,
          scale = Math.abs(expected),
        ): void => compareEnergies(part, step, { recorded, expected, size: scale, largest, body, error })
        const expected = readLinear(step, column)
        compareRow('linear', linear, expected)
        if (Number.isNaN(expected)) motion.observe(step, column, linear)
        compareRow('rotational', rotational, readRotational(step, column))
        // The sum itself has only rounding errors.
        compareRow('total', total, linear + rotational + potential, 0)
        if (row > 0) {
          const before = num(energies, ((row - 1) * count + column) * energyAt.width + energyAt.potential)
          compareRow('potential', potential - before, readPotentialChange(step, column))
        }
        if (window.present[row * count + column] !== 0 || !Number.isNaN(total)) sum += total
        size += largest
        errors += error
      }
      const system = num(window.system.data, row * systemAt.width + systemAt.total)
      compareEnergies('system', step, {
        recorded: system,
        expected: sum,
        size: 0,
        largest: size,
        body: null,
        error: errors,
      })
    },
    findings: () => [
      ...(Object.keys(texts) as EnergyPart[]).flatMap((part) =>
        runs[part].runs.map((run) =>
          createFinding(run, { kind: 'energy_rows', unit: 'J', confidence: 0.95, text: texts[part] }),
        ),
      ),
      ...motion.runs.map((run) =>
        createFinding(run, {
          kind: 'energy_rows',
          unit: 'J',
          confidence: 0.9,
          text: 'has a linear energy that is not that of its motion',
        }),
      ),
    ],
  }
}

/** The tolerance is relative to the speed. */
const [minMotionFrames, motionTolerance] = [3, 0.01] as const

/** Compares linear energies with the motion, for bodies without recorded velocities. */
class MotionEnergy {
  readonly #displacements = new Map<number, Point3>()
  readonly #collector = new RunCollector(2)

  /** Collects a linear energy in J that the motion contradicts. */
  observe(step: Step, column: number, linear: number): void {
    const { min, max } = this.#measureRange(step, column)
    const excess = Math.max(min - linear, linear - max)
    if (!(excess > 0)) return
    const body = step.scene.bodies[column] ?? 0
    const subject = { bodies: [body], pair: null }
    this.#collector.add(body, step.frame, { value: excess, limit: max - min }, subject)
  }

  get runs(): readonly Run[] {
    return this.#collector.runs.filter(({ frames }) => frames >= minMotionFrames)
  }

  /** Returns the range in J; NaN if the motion is unknown. */
  #measureRange(step: Step, column: number): { readonly min: number; readonly max: number } {
    const { dt, displacement, scene } = step
    const now = read3(displacement, 3 * column)
    const last = this.#displacements.get(column) ?? [Number.NaN, Number.NaN, Number.NaN]
    this.#displacements.set(column, now)
    const speed = length3(...now) / dt
    const change = length3(...add(now, last, -1)) + num(step.errors.displacement, column)
    const slack = change / dt + (scene.g * dt || 0) + motionTolerance * speed
    const half = 0.5 * num(scene.masses, column)
    return { min: half * Math.max(0, speed - slack) ** 2, max: half * (speed + slack) ** 2 }
  }
}

interface EnergyComparison {
  readonly recorded: number
  readonly expected: number
  /** Energy in J to which the tolerance is relative. */
  readonly size: number
  /** Largest energy of the body, J. */
  readonly largest: number
  readonly body: number | null
  /** Rounding error, J. */
  readonly error: number
}

/** Returns the error in J. The parts of a sum are rounded separately, as are constants and states. */
function measureRowError(step: Step, column: number, largest: number): number {
  const { scene } = step
  if (scene.rounding.isExact) return 0
  const constantError = num(scene.massErrors, column) / num(scene.masses, column) || 0
  const share = constantError + num(scene.inertiaErrors, column)
  const stateError = step.row === 0 ? 0 : measureEnergyError(step, column, num(scene.masses, column)) || 0
  return 4 * getError(scene.rounding.energy, largest) + share * largest + stateError
}

/** Ignores NaN. */
const getMaxSize = (a: number, b: number, c: number, d: number): number =>
  Math.max(Math.abs(a) || 0, Math.abs(b) || 0, Math.abs(c) || 0, Math.abs(d) || 0)

const readEnergies = (block: Float64Array, at: number): readonly [number, number, number, number] => [
  num(block, at),
  num(block, at + 1),
  num(block, at + 2),
  num(block, at + 3),
]

function readLinear(step: Step, column: number): number {
  const [x, y, z] = read3(step.window.states.data, getOffset(step, column) + stateAt.velocity)
  return 0.5 * num(step.scene.masses, column) * (x * x + y * y + z * z)
}

function readRotational(step: Step, column: number): number {
  const inertia = step.scene.inertias[column]
  if (inertia === undefined) return Number.NaN
  const [x, y, z] = read3(step.window.states.data, getOffset(step, column) + stateAt.spin)
  return 0.5 * (inertia[0] * x * x + inertia[1] * y * y + inertia[2] * z * z)
}

function readPotentialChange({ scene, displacement }: Step, column: number): number {
  const [x, y, z] = read3(displacement, 3 * column)
  const [gx, gy, gz] = scene.gravity
  return -num(scene.masses, column) * (gx * x + gy * y + gz * z)
}
