/**
 * Laws of numbers and clock, except `body_records` (docs/laws.md, Numbers and clock). The recorder stores NaN as
 * NULL.
 */
import { stateAt, systemAt } from '@causeway/recording'
import { createFinding, type Finding } from '../findings/finding.ts'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../steps/block.ts'
import { getError, type Rounding } from '../steps/rounding.ts'
import { type Run, RunCollector } from '../steps/run.ts'
import type { Step } from '../steps/step.ts'
import { add, dot3, type Point3 } from '../vector.ts'
import { AbsentNumbers } from './absent-numbers.ts'
import type { Law } from './law.ts'

const quaternionTolerance = 1e-6

/** float32 engines that do not normalize in every step reach errors of 1e-5. */
const singleTolerance = 2e-5

/** Relative to the usual step. */
const clockTolerance = 1e-3

/** Share of changed steps above which the clock is variable, as in engines that follow the frame time. */
const maxChangedShare = 0.3

/** Maximum ratio of the deviation from the recorded step to the deviation from the usual step. */
const maxAgreementRatio = 0.3

/** Minimum number of equal gaps that count as the recording interval. */
const minGaps = 3

const infoOptions = {
  variable: { severity: 'info', text: 'time steps are variable' },
  agreeing: { severity: 'info', text: 'a time step differs, and the motion agrees with it' },
  pause: { severity: 'info', text: 'neither time nor a body moves: the run is paused' },
  reset: { severity: 'info', text: 'all bodies have their first states again: the run is reset' },
} as const

export const recordLaw = (): Law => new RecordLaw()

const systemSubject = { bodies: [], pair: null }

class RecordLaw implements Law {
  readonly #absentNumbers = new AbsentNumbers()
  readonly #unknownEnergies = new RunCollector()
  readonly #wrongNorms = new RunCollector()
  readonly #gaps = new RunCollector()
  /** Differences of consecutive frame ids. */
  readonly #strides = new Set<number>()
  readonly #clock = new ClockMeter()
  #hasTotal = false

  observe(step: Step): void {
    const { scene, window, row, frame } = step
    for (let column = 0; column < scene.bodies.length; column++)
      if (window.present[row * scene.bodies.length + column] !== 0) this.#observeBody(step, column)
    const total = window.system.data[row * systemAt.width + systemAt.total]
    this.#hasTotal ||= !Number.isNaN(total)
    const hasSystem = window.system.data.length > 0 && isRecorded(window.system.data, row)
    if (hasSystem && !Number.isFinite(total))
      this.#unknownEnergies.add('', frame, { value: 1, limit: 0, excess: 0 }, systemSubject)
    const before = window.frames[row - 1]
    if (before !== undefined) this.#strides.add(frame - before)
    if (before !== undefined && frame - before > 1)
      this.#gaps.add('', frame, { value: frame - before - 1, limit: 0 }, systemSubject)
    this.#clock.observe(step)
  }

  findings(): readonly Finding[] {
    const bodyRuns = this.#absentNumbers.runs
    // Missing numbers of a body explain a missing system energy.
    const isExplained = (run: Run): boolean =>
      bodyRuns.some((bodyRun) => bodyRun.first <= run.last && run.first <= bodyRun.last)
    const systemRuns = this.#hasTotal ? this.#unknownEnergies.runs.filter((run) => !isExplained(run)) : []
    const gaps = this.#gaps.runs
    return [
      ...[...bodyRuns, ...systemRuns].map((run) =>
        createFinding(run, { kind: 'nan', unit: 'absent numbers', confidence: 1 }),
      ),
      ...gaps.map((run) =>
        createFinding(run, {
          kind: 'missing_frames',
          unit: 'frames',
          confidence: 1,
          ...(this.#strides.size === 1 &&
            gaps.length >= minGaps && {
              severity: 'info',
              text: `only one of every ${run.value + 1} frames is recorded`,
            }),
        }),
      ),
      ...this.#clock.findings,
      ...this.#wrongNorms.runs.map((run) =>
        createFinding(run, { kind: 'quaternion_norm', unit: '1', confidence: 1 }),
      ),
    ]
  }

  #observeBody(step: Step, column: number): void {
    const { scene, window, frame } = step
    const states = window.states.data
    const body = scene.bodies[column] ?? 0
    const at = getOffset(step, column)
    let sum = 0
    for (let i = 0; i < stateAt.width; i++) sum += num(states, at + i)
    // A finite sum implies finite parts, except near overflow.
    if (!this.#absentNumbers.hasEverything(body) || !Number.isFinite(sum))
      this.#absentNumbers.add(states, at, body, frame)
    const q = at + stateAt.orientation
    const [w, x, y, z] = [num(states, q), num(states, q + 1), num(states, q + 2), num(states, q + 3)]
    const squaredNorm = w * w + x * x + y * y + z * z
    if (Math.abs(squaredNorm - 1) <= quaternionTolerance) return
    const error = Math.abs(Math.sqrt(squaredNorm) - 1)
    if (!(error > quaternionTolerance)) return
    const limit = getNormTolerance(scene.rounding, [w, x, y, z])
    if (error > limit)
      this.#wrongNorms.add(body, frame, { value: error, limit }, { bodies: [body], pair: null })
  }
}

class ClockMeter {
  readonly #breaches = { pause: new RunCollector(), reset: new RunCollector() }
  readonly #frozenSteps = new RunCollector()
  readonly #unevenSteps = new RunCollector()
  readonly #agreeingSteps = new RunCollector()
  #steps = 0
  #changes = 0
  #lastDt = Number.NaN

  observe(step: Step): void {
    const { scene, window, row, frame, recordedDt, breach } = step
    if (breach !== null)
      this.#breaches[breach].add('', frame, { value: recordedDt, limit: scene.dt, excess: 0 }, systemSubject)
    if (Number.isNaN(recordedDt) || breach === 'pause') return
    this.#steps += 1
    const rounding = 2.02 * getError(scene.rounding.time, num(window.times, row))
    if (Math.abs(recordedDt - this.#lastDt) > clockTolerance * scene.dt + 2 * rounding) this.#changes += 1
    this.#lastDt = recordedDt
    const deviation = Math.abs(recordedDt - scene.dt)
    if (recordedDt === 0)
      this.#frozenSteps.add('', frame, { value: 0, limit: scene.dt, excess: 0 }, systemSubject)
    else if (deviation > clockTolerance * scene.dt + rounding) {
      const runs = agreesWithMotion(step) ? this.#agreeingSteps : this.#unevenSteps
      runs.add('', frame, { value: recordedDt, limit: scene.dt, excess: deviation }, systemSubject)
    }
  }

  get findings(): readonly Finding[] {
    const { pause, reset } = this.#breaches
    const isVariable = this.#changes > maxChangedShare * this.#steps && this.#frozenSteps.runs.length === 0
    const createFindings = (
      kind: Finding['kind'],
      { runs }: RunCollector,
      info?: (typeof infoOptions)[keyof typeof infoOptions],
    ) => runs.map((run) => createFinding(run, { kind, unit: 's', confidence: 1, ...info }))
    return [
      ...createFindings('frozen_time', pause, infoOptions.pause),
      ...createFindings('teleport', reset, infoOptions.reset),
      ...createFindings('frozen_time', this.#frozenSteps),
      ...createFindings('nonuniform_dt', this.#unevenSteps, isVariable ? infoOptions.variable : undefined),
      ...createFindings('nonuniform_dt', this.#agreeingSteps, infoOptions.agreeing),
    ]
  }
}

/**
 * Whether the motion matches the recorded step better than the usual one. A body's mean velocity is between those
 * before and after the step.
 */
function agreesWithMotion(step: Step): boolean {
  const { scene, recordedDt, window, displacement } = step
  const s = window.states.data
  let [recordedDeviation, usualDeviation] = [0, 0]
  for (let column = 0; column < scene.bodies.length; column++) {
    const u = read3(s, getOffsetBefore(step, column) + stateAt.velocity)
    const v = read3(s, getOffset(step, column) + stateAt.velocity)
    const motion = read3(displacement, 3 * column)
    recordedDeviation += measureDeviation(motion, [u, v], recordedDt) || 0
    usualDeviation +=
      Math.max(0, measureDeviation(motion, [u, v], scene.dt) - num(step.errors.displacement, column)) || 0
  }
  return usualDeviation > minMotion && recordedDeviation < maxAgreementRatio * usualDeviation
}

/** m */
const minMotion = 1e-4

/** Returns the distance in m from `motion` to the nearest motion with a velocity between `u` and `v`. */
function measureDeviation(motion: Point3, [u, v]: readonly [Point3, Point3], dt: number): number {
  const from = add(motion, u, -dt)
  const path = add(add([0, 0, 0], v, dt), u, -dt)
  const square = dot3(path, path)
  const share = square > 0 ? Math.min(1, Math.max(0, dot3(from, path) / square)) : 0
  return length3(...add(from, path, -share))
}

/** Returns the tolerance of a quaternion's length, for rounding or float32. */
function getNormTolerance({ orientation }: Rounding, quaternion: readonly number[]): number {
  if (orientation.relative > 0 && orientation.relative < singleTolerance) return singleTolerance
  const sum = quaternion.reduce((total, part) => total + Math.abs(part), 0)
  return Math.max(quaternionTolerance, sum * getError(orientation, 1))
}

/** Rows without any number were not written. */
function isRecorded(data: Float64Array, row: number): boolean {
  for (let i = 0; i < systemAt.width; i++)
    if (!Number.isNaN(data[row * systemAt.width + i] ?? Number.NaN)) return true
  return false
}
