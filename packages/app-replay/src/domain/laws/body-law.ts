/** Law `body_records` (docs/laws.md, Numbers and clock). */
import { stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../findings/finding.ts'
import { formatQuantity } from '../sentence.ts'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../steps/block.ts'
import { type Run, RunCollector, type Subject } from '../steps/run.ts'
import { isEnvironment } from '../steps/scene.ts'
import type { Step } from '../steps/step.ts'
import type { Law } from './law.ts'

/** In m/s, slightly below the escape velocity of the Earth. */
const maxFirstSpeed = 1e4
/** m/s */
const maxSpeed = 1e6

export const bodyLaw = (): Law => new BodyLaw()

class BodyLaw implements Law {
  readonly #duplicateStates = new RunCollector()
  readonly #repeatedStates = new RunCollector()
  readonly #unknownBodies = new RunCollector(2)
  readonly #selfContacts = new RunCollector(2)
  readonly #invalidMasses = new RunCollector()
  readonly #firstSpeeds = new RunCollector()
  readonly #divergingRuns = new RunCollector()
  /** First frame of the current growth of the velocity, by column. */
  readonly #growthStartByColumn = new Map<number, number>()
  readonly #growthStartByRun = new Map<Run, number>()
  readonly #judgedColumns = new Set<number>()
  /** Columns of bodies with a mass of 0 that move. */
  readonly #movingMassless = new Set<number>()
  readonly #startedColumns = new Set<number>()

  observe(step: Step): void {
    const { scene, window, row } = step
    const count = scene.bodies.length
    for (let column = 0; column < count; column++) {
      const rows = window.present[row * count + column] ?? 0
      if (rows > 0) this.#observeBody(step, column, rows)
    }
    checkContacts(step, this.#selfContacts, this.#unknownBodies)
  }

  findings(): readonly Finding[] {
    const divergingRuns = this.#divergingRuns.runs.map((run) => ({
      ...run,
      first: this.#growthStartByRun.get(run) ?? run.first,
    }))
    return [
      ...this.#invalidMasses.runs.map((run) =>
        createFinding(run, {
          kind: 'invalid_mass',
          unit: 'kg',
          confidence: 1,
          text: `has a mass of ${formatQuantity(run.value, 'kg')}`,
        }),
      ),
      ...this.#unknownBodies.runs.map((run) =>
        createFinding(run, { kind: 'invalid_body_id', unit: '', confidence: 1 }),
      ),
      ...this.#selfContacts.runs.map(toSelfContact),
      ...toBlowUps(this.#firstSpeeds.runs, divergingRuns),
      ...this.#repeatedStates.runs.map((run) =>
        createFinding(run, {
          kind: 'duplicate_state',
          unit: 'states',
          confidence: 1,
          text: `has ${run.value} states in one frame; the last is used`,
        }),
      ),
      ...this.#duplicateStates.runs.map((run) =>
        createFinding(run, { kind: 'duplicate_state', unit: 'states', confidence: 0.95 }),
      ),
    ]
  }

  #observeBody(step: Step, column: number, rows: number): void {
    const { scene, frame } = step
    const body = scene.bodies[column] ?? 0
    const subject = { bodies: [body], pair: null }
    this.#observeMass(step, column, subject)
    if (!this.#startedColumns.has(column)) {
      const speed = readFirstSpeed(step, column)
      if (!Number.isNaN(speed) || this.#judgedColumns.has(column)) this.#startedColumns.add(column)
      if (speed > maxFirstSpeed && scene.g > 0)
        this.#firstSpeeds.add(body, frame, { value: speed, limit: maxFirstSpeed }, subject)
    }
    const now = getMaxVelocity(step, column)
    if (!isGrowing(step, column)) this.#growthStartByColumn.delete(column)
    else if (!this.#growthStartByColumn.has(column)) this.#growthStartByColumn.set(column, frame)
    if (now > maxFirstSpeed && scene.g > 0) {
      const run = this.#divergingRuns.add(body, frame, { value: now, limit: maxSpeed }, subject)
      if (run.first === frame) this.#growthStartByRun.set(run, this.#growthStartByColumn.get(column) ?? frame)
    }
    this.#judgedColumns.add(column)
    if (rows > 1) this.#repeatedStates.add(body, frame, { value: rows, limit: 1 }, subject)
    if (!Number.isNaN(step.dt) && isDuplicate(step, column))
      this.#duplicateStates.add(body, frame, { value: 1, limit: 0 }, subject)
  }

  #observeMass(step: Step, column: number, subject: Subject): void {
    const { scene, frame } = step
    const body = scene.bodies[column] ?? 0
    if (scene.masslessColumns.has(column) && !this.#movingMassless.has(column) && isMoving(step, column)) {
      this.#movingMassless.add(column)
      this.#invalidMasses.add(body, frame, { value: 0, limit: 0 }, subject)
    }
    const mass = num(scene.masses, column)
    if (!this.#judgedColumns.has(column) && (mass <= 0 || mass === Number.POSITIVE_INFINITY))
      this.#invalidMasses.add(body, frame, { value: mass, limit: 0 }, subject)
  }
}

const toSelfContact = (run: Run): Finding =>
  createFinding(run, { kind: 'invalid_body_id', unit: '', confidence: 1, text: 'is in contact with itself' })

function checkContacts(step: Step, selfContacts: RunCollector, unknownBodies: RunCollector): void {
  const { scene, frame, touches } = step
  for (const { a, b, columnA, columnB } of touches) {
    if (a === b) selfContacts.add(a, frame, { value: a, limit: 0 }, { bodies: [a], pair: [a, b] })
    for (const [body, column] of [
      [a, columnA],
      [b, columnB],
    ] as const)
      if (column < 0 ? !isEnvironment(scene, body) : !isPresent(step, column))
        unknownBodies.add(body, frame, { value: body, limit: 0 }, { bodies: [body], pair: [a, b] })
  }
}

const toBlowUps = (firstSpeedRuns: readonly Run[], divergingRuns: readonly Run[]): readonly Finding[] => [
  ...firstSpeedRuns.map((run) =>
    createFinding(run, {
      kind: 'blow_up',
      unit: 'm/s',
      confidence: 0.85,
      text: 'has a speed in its first frame that nothing under gravity reaches',
    }),
  ),
  ...divergingRuns
    .filter(({ value }) => value > maxSpeed)
    .map((run) =>
      createFinding(run, {
        kind: 'blow_up',
        unit: 'm/s',
        confidence: 0.95,
        text: 'reaches a speed far beyond that of any body under gravity: the simulation diverges',
      }),
    ),
]

/** Whether the velocity changes by over a tenth, and more than gravity explains. */
function isGrowing(step: Step, column: number): boolean {
  const { scene, window, dt } = step
  if (!(dt > 0)) return false
  const s = window.states.data
  const [v, u] = [
    getOffset(step, column) + stateAt.velocity,
    getOffsetBefore(step, column) + stateAt.velocity,
  ]
  let [speed, change] = [0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const before = num(s, u + axis)
    speed += before * before
    change += (num(s, v + axis) - before) ** 2
  }
  // The squared speed overflows late in a divergence.
  return change > 0.01 * Math.min(speed, Number.MAX_VALUE) && change > (2 * scene.g * dt) ** 2
}

const isMoving = (step: Step, column: number): boolean =>
  num(step.distance, column) > 0 ||
  read3(step.window.states.data, getOffset(step, column) + stateAt.velocity).some(
    (part) => part !== 0 && !Number.isNaN(part),
  )

/** Also accepts bodies of the previous frame, because contacts can belong to it. */
const isPresent = ({ window, row, scene }: Step, column: number): boolean =>
  [row, row - 1].some(
    (stateRow) => stateRow >= 0 && window.present[stateRow * scene.bodies.length + column] !== 0,
  )

/** Returns the largest component in m/s; 0 if not recorded. */
function getMaxVelocity(step: Step, column: number): number {
  const { window } = step
  const s = window.states.data
  const v = getOffset(step, column) + stateAt.velocity
  let max = 0
  for (let axis = 0; axis < 3; axis++) {
    const value = Math.abs(num(s, v + axis))
    if (value > max && value < Number.POSITIVE_INFINITY) max = value
  }
  return max
}

/** Returns the speed in m/s, derived from the motion if not recorded. */
function readFirstSpeed(step: Step, column: number): number {
  const speed = length3(...read3(step.window.states.data, getOffset(step, column) + stateAt.velocity))
  return Number.isNaN(speed) ? num(step.distance, column) / step.dt : speed
}

function isDuplicate(step: Step, column: number): boolean {
  const s = step.window.states.data
  const [at, previousAt] = [getOffset(step, column), getOffsetBefore(step, column)]
  for (let i = 0; i < stateAt.width; i++) {
    const [now, then] = [num(s, at + i), num(s, previousAt + i)]
    if (now !== then && !(Number.isNaN(now) && Number.isNaN(then))) return false
  }
  const distance = length3(...read3(s, at + stateAt.velocity)) * step.dt
  return (
    distance > Math.max(1e-3, 2 * step.scene.g * step.dt ** 2 || 0) + num(step.errors.displacement, column)
  )
}
