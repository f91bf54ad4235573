/**
 * Laws of momentum and energy (docs/laws.md, Motion and Energy). A run of unexplained steps is one finding. Runs
 * within the noise of recorded states are one info, unless their sum exceeds the noise.
 */

import type { BodyId } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { formatNumber } from '../../sentence.ts'
import { num } from '../../steps/block.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import type { Law } from '../law.ts'
import {
  type Account,
  BalanceAccounts,
  type BalancedBodies,
  findDampingRateByBody,
} from './balance-account.ts'
import { measureBody, type UnexplainedMotion } from './body-balance.ts'
import { ConstantAccelerations, WeakAccelerations } from './constant-acceleration.ts'
import { measureGroup } from './group-balance.ts'
import { IntegratorMeter } from './integrator-meter.ts'
import { NoiseMeter } from './noise-meter.ts'

/** `blowUpFactor` is relative to the first kinetic energy, `blowUpShare` to the largest. */
const energyRule = { minDriftFrames: 5, blowUpFactor: 1000, blowUpShare: 0.1 } as const

/** After this number of steps, an unrecorded force is likely. */
const minForceFrames = 20
const forceAdvice = 'If a force acts on it, record it in bodies[].forces.'

export const balanceLaw = (): Law => new BalanceLaw()

class BalanceLaw implements Law {
  readonly #accounts = new BalanceAccounts()
  readonly #noise = new NoiseMeter()
  readonly #weakAccelerations = new WeakAccelerations()
  readonly #integrators = new IntegratorMeter()
  readonly #sleeping = new SleepingBodies()
  readonly #noisyRuns = new RunCollector(Number.POSITIVE_INFINITY)
  #scene: Scene | undefined

  observe(step: Step): void {
    const { scene, dt } = step
    this.#scene = scene
    if (Number.isNaN(dt) || Number.isNaN(scene.g) || !scene.hasContacts || scene.hasSubsteps) return
    for (let column = 0; column < scene.bodies.length; column++) this.#observeBody(step, column)
    for (const [index, { id, bodies, columns }] of scene.groups.entries()) {
      const unexplained = measureGroup(step, index)
      const mass = columns.reduce((sum, column) => sum + num(scene.masses, column), 0)
      if (unexplained !== null) this.#accounts.add(step, unexplained, { key: `group ${id}`, bodies, mass })
    }
  }

  findings(): readonly Finding[] {
    const scene = this.#scene
    const constantAccelerations = new ConstantAccelerations(scene)
    const dampingRates = findDampingRateByBody(this.#accounts.all)
    const accountFindings = [...this.#accounts.all, ...this.#sleeping.brokenRuns].flatMap(
      ([run, account]) => {
        const [body = 0] = run.bodies
        const column =
          run.bodies.length === 1 && !account.isConstrained ? scene?.columnById.get(body) : undefined
        // The first frames had no noise level yet.
        if (column !== undefined && this.#isNoise(column, account, run.value)) {
          const isReported = this.#noisyRuns.runs.some(({ bodies }) => bodies[0] === body)
          if (!isReported)
            this.#noisyRuns.add(
              body,
              run.first,
              { value: account.residual, limit: account.allowedResidual },
              run,
            )
          return []
        }
        const dampingRate = column === undefined ? undefined : dampingRates.get(body)
        if (dampingRate !== undefined) return [toDampingFinding(run, account, dampingRate)]
        return constantAccelerations.add(run, account) ? [] : toFindings(run, account)
      },
    )
    const drifts = this.#noisyRuns.runs.flatMap((run) => {
      const column = scene?.columnById.get(run.bodies[0] ?? 0)
      return column === undefined ? [] : findDrift(this.#noise, column, run)
    })
    const isNew = ({ bodies: [body = 0] }: Finding): boolean =>
      !constantAccelerations.findings.some(({ bodies }) => bodies.includes(body))
    return [
      ...constantAccelerations.findings,
      ...this.#weakAccelerations.findings.filter(isNew),
      ...accountFindings,
      ...drifts,
      ...this.#integrators.findings,
      ...this.#noisyRuns.runs.map(toNoiseFinding),
    ]
  }

  #observeBody(step: Step, column: number): void {
    const { scene, frame, asleep } = step
    this.#integrators.add(step, column)
    this.#sleeping.detectSupport(step, column)
    const unexplained = measureBody(step, column, {
      noise: this.#noise,
      weakAccelerations: this.#weakAccelerations,
    })
    if (unexplained === null) return
    const body = scene.bodies[column] ?? 0
    const account = { key: body, bodies: [body], mass: num(scene.masses, column) }
    if (!unexplained.isConstrained && this.#isNoise(column, unexplained, unexplained.work)) {
      const subject = { bodies: [body], pair: null }
      this.#noisyRuns.add(
        body,
        frame,
        { value: unexplained.residual, limit: unexplained.allowedResidual },
        subject,
      )
    } else if (asleep[column] === 1) this.#sleeping.add(step, unexplained, account)
    else this.#accounts.add(step, unexplained, account)
  }

  /** Whether noise explains the residual (N·s) or the gain (J). */
  #isNoise(
    column: number,
    { residual, allowedResidual }: Pick<Account, 'residual' | 'allowedResidual'>,
    gain: number,
  ): boolean {
    const level = this.#noise.measure(column)
    return residual > allowedResidual ? residual <= level.residual : Math.abs(gain) <= level.gain
  }
}

/**
 * Bodies that seem to sleep. If an impulse later supports such a body although it has not moved, impulses were missing
 * before.
 */
class SleepingBodies {
  readonly #accounts = new BalanceAccounts()
  readonly #lastByBody = new Map<BodyId, number>()
  readonly #brokenRuns = new Set<string>()

  add(step: Step, unexplained: UnexplainedMotion, body: BalancedBodies): void {
    this.#accounts.add(step, unexplained, body)
    for (const id of body.bodies) this.#lastByBody.set(id, step.frame)
  }

  detectSupport({ scene, frame, asleep, touching, distance }: Step, column: number): void {
    const body = scene.bodies[column] ?? 0
    const isSupported = asleep[column] === 0 && touching[column] === 1 && distance[column] === 0
    if (isSupported && this.#lastByBody.get(body) === frame - 1) this.#brokenRuns.add(`${body} ${frame - 1}`)
  }

  get brokenRuns(): readonly (readonly [Run, Account])[] {
    return this.#accounts.all.filter(([{ bodies, last }]) => this.#brokenRuns.has(`${bodies[0]} ${last}`))
  }
}

const toNoiseFinding = (run: Run): Finding =>
  createFinding(run, {
    kind: 'momentum',
    severity: 'info',
    unit: 'N·s',
    confidence: 0.8,
    text: 'has noise in its recorded states',
  })

const toDampingFinding = (run: Run, { work }: Account, rate: number): Finding =>
  createFinding(run, {
    kind: 'dissipation_without_contact',
    severity: 'info',
    unit: 'J',
    confidence: 0.8,
    value: work,
    text: `slows down as with a linear damping of ${formatNumber(Number(rate.toPrecision(2)))} 1/s`,
    advice: forceAdvice,
  })

/** Returns a drift of energy, or else of momentum. */
function findDrift(noise: NoiseMeter, column: number, { bodies, pair }: Run): readonly Finding[] {
  const gain = noise.findDrift(column, 'gain')
  const drift = gain ?? noise.findDrift(column, 'residual')
  if (drift === undefined) return []
  const { first, last, sum, limit } = drift
  const kind = gain === undefined ? 'momentum' : sum > 0 ? 'energy_drift' : 'dissipation_without_contact'
  return [
    createFinding(
      { first, last, peak: last, value: sum, limit, bodies, pair },
      { kind, unit: gain === undefined ? 'N·s' : 'J', confidence: 0.7, advice: forceAdvice },
    ),
  ]
}

function toFindings(run: Run, account: Account): readonly Finding[] {
  const { work, maxWork, residual, allowedResidual, firstKinetic, maxKinetic, isConstrained } = account
  const confidence = isConstrained ? 0.6 : 0.9
  const hasForce = !isConstrained && run.frames >= minForceFrames
  const commonOptions = { confidence, ...(hasForce && { advice: forceAdvice }) }
  // A force that changes the momentum also explains its torque.
  const rank = residual > allowedResidual ? ({ rank: 'momentum' } as const) : {}
  const energyOptions = { ...commonOptions, ...rank, unit: 'J', value: work }
  const changesEnergy = Math.abs(work) > 0.05 * maxWork
  const hasBlownUp = maxKinetic > energyRule.blowUpFactor * Math.max(firstKinetic, 1e-3)
  // Gravity explains a fall from rest.
  if (run.frames >= 3 && hasBlownUp && !(maxWork < energyRule.blowUpShare * maxKinetic))
    return [
      createFinding(
        { ...run, peak: run.last },
        { kind: 'blow_up', unit: 'J', confidence: 0.95, value: maxKinetic },
      ),
    ]
  if (work > 0 && changesEnergy)
    return [
      createFinding(run, {
        ...energyOptions,
        kind: run.frames >= energyRule.minDriftFrames ? 'energy_drift' : 'energy_injection',
      }),
    ]
  if (work < 0 && changesEnergy && !isConstrained)
    return [createFinding(run, { ...energyOptions, kind: 'dissipation_without_contact' })]
  return [
    createFinding(run, {
      ...commonOptions,
      kind: 'momentum',
      unit: 'N·s',
      value: residual,
      limit: allowedResidual,
    }),
  ]
}
