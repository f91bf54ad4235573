/** Law `energy_budget` (docs/laws.md, Energy). The scale is at least the energy that lifts all bodies by 1 cm. */
import { energyAt, stateAt, systemAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { getOffset, getOffsetBefore, num } from '../../steps/block.ts'
import type { MovingSurfaces } from '../../steps/motion.ts'
import type { Run } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import type { Law } from '../law.ts'
import { balanceTolerance, measureEnergyError } from './body-balance.ts'

/** Excess as a multiple of the scale, and minimum number of frames. */
const budgetRule = { maxShare: 0.25, blowUpFactor: 1000, minFrames: 3 } as const

interface Excess extends Run {
  scale: number
  bodies: readonly number[]
}

export function budgetLaw(): Law {
  const runs: Excess[] = []
  let budget = Number.NaN
  let maxKinetic = 0
  let openRun: Excess | undefined
  let isDriven = false
  let surfaces: MovingSurfaces | undefined
  let isIncomplete = false
  const firstTotals = new Map<number, number>()

  return {
    observe(step) {
      const { frame, window, row, scene } = step
      isDriven ||=
        step.hasExternal.includes(1) || step.joints.isIncomplete || scene.surfaceVelocities.size > 0
      surfaces = step.surfaces
      const total = num(window.system.data, row * systemAt.width + systemAt.total)
      if (Number.isNaN(total)) return
      addFirstTotals(step, firstTotals)
      isIncomplete ||= !hasAllParts(step)
      if (isIncomplete) return
      budget = Number.isNaN(budget) ? total : budget + sumAppearingEnergy(step)
      budget += Math.max(0, step.joints.totalWork) + sumFallingGain(step)
      if (!scene.hasContacts) budget += sumSupportedGain(step)
      const kinetic = sumKineticEnergy(step)
      const weight = scene.masses.reduce((sum, mass) => sum + (mass > 0 ? mass : 0), 0) * scene.g
      const scale = Math.max(maxKinetic, 0.01 * weight)
      const excess = total - budget - sumEnergyErrors(step)
      if (!(excess > 0.05 * scale + 1e-6 * Math.abs(budget))) {
        openRun = undefined
        maxKinetic = Math.max(maxKinetic, kinetic)
        return
      }
      if (openRun === undefined) {
        const run = { first: frame, last: frame, peak: frame, value: excess, limit: scale, frames: 0 }
        openRun = { ...run, pair: null, bodies: [], scale }
        runs.push(openRun)
      }
      openRun.frames += 1
      openRun.last = frame
      if (excess >= openRun.value) {
        openRun.value = excess
        openRun.peak = frame
        if (excess < budgetRule.blowUpFactor * openRun.scale || openRun.bodies.length === 0)
          openRun.bodies = findGainers(step, firstTotals)
      }
    },
    findings: () => (isDriven || (surfaces?.all.length ?? 0) > 0 ? [] : runs.flatMap(toFindings)),
  }
}

function toFindings(run: Excess): readonly Finding[] {
  const { scale, value } = run
  if (run.frames < budgetRule.minFrames || !(value > budgetRule.maxShare * scale)) return []
  if (value > budgetRule.blowUpFactor * scale)
    return [createFinding(run, { kind: 'blow_up', unit: 'J', confidence: 0.95, limit: scale })]
  return [
    createFinding(run, {
      kind: 'energy_injection',
      severity: 'warning',
      unit: 'J',
      confidence: 0.3,
      limit: budgetRule.maxShare * scale,
    }),
  ]
}

const getEnergyOffset = ({ scene }: Step, row: number, column: number): number =>
  (row * scene.bodies.length + column) * energyAt.width

function addFirstTotals(step: Step, totals: Map<number, number>): void {
  const { window, row, scene } = step
  if (totals.size === scene.bodies.length) return
  for (let column = 0; column < scene.bodies.length; column++) {
    const total = num(window.energies.data, getEnergyOffset(step, row, column) + energyAt.total)
    if (!totals.has(column) && Number.isFinite(total)) totals.set(column, total)
  }
}

/** Returns the energy in J. */
function sumAppearingEnergy(step: Step): number {
  const { window, row, scene } = step
  if (row === 0) return 0
  let sum = 0
  for (let column = 0; column < scene.bodies.length; column++) {
    const now = num(window.energies.data, getEnergyOffset(step, row, column) + energyAt.total)
    const then = num(window.energies.data, getEnergyOffset(step, row - 1, column) + energyAt.total)
    if (Number.isNaN(then) && Number.isFinite(now)) sum += now
  }
  return sum
}

/** Returns the summed rounding errors of the current and first energies in J. */
function sumEnergyErrors(step: Step): number {
  const { scene, row } = step
  if (scene.rounding.isExact || row === 0) return 0
  return scene.bodies.reduce(
    (sum, _, column) => sum + (2 * measureEnergyError(step, column, num(scene.masses, column)) || 0),
    0,
  )
}

/** Returns the energy in J that explicit Euler adds: m g² dt² / 2. */
function sumFallingGain(step: Step): number {
  const { window, row, scene, dt, displacement } = step
  if (row === 0 || !(scene.g * dt > 0)) return 0
  const s = window.states.data
  let sum = 0
  for (let column = 0; column < scene.bodies.length; column++) {
    const [v, u] = [
      getOffset(step, column) + stateAt.velocity,
      getOffsetBefore(step, column) + stateAt.velocity,
    ]
    let [gain, squaredDeviation] = [0, 0]
    for (let axis = 0; axis < 3; axis++) {
      const [now, before, pull] = [num(s, v + axis), num(s, u + axis), scene.gravity[axis] ?? 0]
      gain += (now * now - before * before) / 2 - pull * num(displacement, 3 * column + axis)
      squaredDeviation += (now - before - pull * dt) ** 2
    }
    const slack = balanceTolerance.free * scene.g * dt + num(step.errors.velocityChange, column)
    if (!(squaredDeviation <= slack ** 2)) continue
    if (gain > 0) sum += num(scene.masses, column) * Math.min(gain, 0.51 * (scene.g * dt) ** 2)
  }
  return sum
}

/** Range of a supported body's lift relative to its weight. Friction must not exceed the lift. */
const supportShare = { min: 0.5, max: 1.5 } as const

/** Returns the energy gain in J of supported bodies, which a moving surface may drive. */
function sumSupportedGain(step: Step): number {
  const { window, row, scene, dt } = step
  const weight = scene.g * dt
  if (row === 0 || !(weight > 0)) return 0
  const s = window.states.data
  let sum = 0
  for (let column = 0; column < scene.bodies.length; column++) {
    const [v, u] = [
      getOffset(step, column) + stateAt.velocity,
      getOffsetBefore(step, column) + stateAt.velocity,
    ]
    let [lift, square] = [0, 0]
    for (let axis = 0; axis < 3; axis++) {
      const gravity = scene.gravity[axis] ?? 0
      const change = num(s, v + axis) - num(s, u + axis) - gravity * dt
      lift -= (change * gravity) / scene.g
      square += change * change
    }
    const isSupported = lift >= supportShare.min * weight && lift <= supportShare.max * weight
    if (!isSupported || square > 2 * lift * lift) continue
    const [now, before] = [row, row - 1].map((stateRow) =>
      num(window.energies.data, getEnergyOffset(step, stateRow, column) + energyAt.total),
    ) as [number, number]
    sum += Math.max(0, now - before) || 0
  }
  return sum
}

/** Whether a body of unknown mass moves, so that it can drive others. */
export function hasMoverOfUnknownMass({
  window,
  row,
  scene,
}: Pick<Step, 'window' | 'row' | 'scene'>): boolean {
  const s = window.states.data
  const count = scene.bodies.length
  for (let column = 0; column < count; column++) {
    if (num(scene.masses, column) > 0) continue
    const at = (row * count + column) * stateAt.width
    for (const part of [stateAt.velocity, stateAt.spin])
      for (let i = at + part; i < at + part + 3; i++) if ((num(s, i) || 0) !== 0) return true
    for (let i = at; row > 0 && i < at + 3; i++)
      if (Math.abs(num(s, i) - num(s, i - count * stateAt.width)) > 0) return true
  }
  return false
}

/** Gravity in m/s² below which potential energy is negligible. */
const minGravity = 1e-3

/** Whether the total includes the rotational energy of turning bodies, and potential energy if there is gravity. */
export function hasAllParts({ window, row, scene }: Pick<Step, 'window' | 'row' | 'scene'>): boolean {
  if (hasMoverOfUnknownMass({ window, row, scene })) return false
  const isFalling = !(scene.g < minGravity)
  const energies = window.energies.data
  const s = window.states.data
  for (let column = 0; column < scene.bodies.length; column++) {
    const at = (row * scene.bodies.length + column) * energyAt.width
    if (Number.isNaN(num(energies, at + energyAt.linear))) continue
    if (isFalling && Number.isNaN(num(energies, at + energyAt.potential))) return false
    if (!Number.isNaN(num(energies, at + energyAt.rotational))) continue
    const spin = (row * scene.bodies.length + column) * stateAt.width + stateAt.spin
    if (num(s, spin) !== 0 || num(s, spin + 1) !== 0 || num(s, spin + 2) !== 0) return false
  }
  const system = row * systemAt.width
  const isKnown = (part: number): boolean => !Number.isNaN(num(window.system.data, system + part))
  return isKnown(energyAt.linear) && (!isFalling || isKnown(energyAt.potential))
}

const readKineticEnergy = ({ window }: Step, at: number): number =>
  num(window.energies.data, at + energyAt.linear) + (num(window.energies.data, at + energyAt.rotational) || 0)

function sumKineticEnergy(step: Step): number {
  let sum = 0
  for (let column = 0; column < step.scene.bodies.length; column++) {
    const kinetic = readKineticEnergy(step, getEnergyOffset(step, step.row, column))
    if (Number.isFinite(kinetic)) sum += kinetic
  }
  return sum
}

function findGainers(step: Step, firstTotals: ReadonlyMap<number, number>): readonly number[] {
  const { window, scene, row } = step
  const gains = scene.bodies
    .map((body, column) => {
      const total = num(window.energies.data, getEnergyOffset(step, row, column) + energyAt.total)
      return { body, gain: total - (firstTotals.get(column) ?? Number.NaN) }
    })
    .filter(({ gain }) => gain > 0)
    .sort((a, b) => b.gain - a.gain)
  const maxGain = gains[0]?.gain ?? 0
  return gains
    .filter(({ gain }) => gain >= 0.01 * maxGain)
    .slice(0, 3)
    .map(({ body }) => body)
    .sort((a, b) => a - b)
}
