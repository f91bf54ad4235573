/**
 * The energy of the whole system never exceeds what it began with and what bodies brought in that appeared later.
 *
 * Contacts only take energy away, however consistent their impulses are: a solver that diverges shows here when nothing
 * else does. The scale is the greatest kinetic energy so far, or the weight of all bodies lifted by 1 cm. An excess of a
 * quarter of it, for 3 frames, is suspicious (`energy_injection`, warning); a thousand times it is a `blow_up`. The run
 * begins where the energy first left the budget. External forces may do work: recordings with any are not judged, and none
 * is from the first frame on whose total lacks a part: without gravity the potential energies, without inertia the rotational
 * ones, are not known.
 */
import { energyAt, systemAt } from '@causeway/recording'
import { num } from './component.ts'
import { type Finding, findingOf } from './finding.ts'
import type { Law } from './law.ts'
import type { Run } from './run.ts'
import type { Step } from './step.ts'

/** Excess by scale that is suspicious, and that is a blow-up; frames that it must last. */
const budgetRule = { suspicious: 0.25, blowUp: 1000, frames: 3 } as const

interface Excess extends Run {
  scale: number
  bodies: readonly number[]
}

/** Makes the law. */
export function budgetLaw(): Law {
  const found: Excess[] = []
  let budget = Number.NaN
  let kineticMost = 0
  let open: Excess | undefined
  let isDriven = false
  let lacksPart = false

  return {
    see(step) {
      const { frame, window, row, scene } = step
      isDriven ||= step.hasExternal.includes(1)
      const total = num(window.system.data, row * systemAt.width + systemAt.total)
      if (Number.isNaN(total)) return
      lacksPart ||= !isWhole(step)
      if (lacksPart) return
      budget = Number.isNaN(budget) ? total : budget + broughtIn(step)
      const kinetic = kineticOf(step)
      const weight = scene.masses.reduce((sum, mass) => sum + (mass > 0 ? mass : 0), 0) * scene.g
      const scale = Math.max(kineticMost, 0.01 * weight)
      const excess = total - budget
      if (!(excess > 0.05 * scale + 1e-6 * Math.abs(budget))) {
        open = undefined
        kineticMost = Math.max(kineticMost, kinetic)
        return
      }
      if (open === undefined) {
        const run = { first: frame, last: frame, peak: frame, value: excess, limit: scale, frames: 0, sum: 0 }
        open = { ...run, pair: null, bodies: [], scale }
        found.push(open)
      }
      open.frames += 1
      open.last = frame
      if (excess >= open.value) {
        open.value = excess
        open.peak = frame
        if (excess < budgetRule.blowUp * open.scale || open.bodies.length === 0) open.bodies = fastest(step)
      }
    },
    findings: () => (isDriven ? [] : found.flatMap(judge)),
  }
}

function judge(run: Excess): readonly Finding[] {
  const { scale, value } = run
  if (run.frames < budgetRule.frames || !(value > budgetRule.suspicious * scale)) return []
  if (value > budgetRule.blowUp * scale)
    return [findingOf(run, { kind: 'blow_up', unit: 'J', confidence: 0.95, limit: scale })]
  return [
    findingOf(run, {
      kind: 'energy_injection',
      severity: 'warning',
      unit: 'J',
      confidence: 0.5,
      limit: budgetRule.suspicious * scale,
    }),
  ]
}

const rowOf = ({ scene }: Step, row: number, column: number): number =>
  (row * scene.bodies.length + column) * energyAt.width

/** J of the bodies that appear in this frame. */
function broughtIn(step: Step): number {
  const { window, row, scene } = step
  if (row === 0) return 0
  let sum = 0
  for (let column = 0; column < scene.bodies.length; column++) {
    const now = num(window.energies.data, rowOf(step, row, column) + energyAt.total)
    const then = num(window.energies.data, rowOf(step, row - 1, column) + energyAt.total)
    if (Number.isNaN(then) && Number.isFinite(now)) sum += now
  }
  return sum
}

/** m/s², gravity below it lifts no potential energy that counts. */
const noGravity = 1e-3

/** Are all parts of the energy known, of the system and of every body that has some? */
function isWhole(step: Step): boolean {
  const { window, row, scene } = step
  const isFalling = !(scene.g < noGravity)
  const isKnown = (block: Float64Array, at: number): boolean =>
    !Number.isNaN(num(block, at + energyAt.rotational)) &&
    !(isFalling && Number.isNaN(num(block, at + energyAt.potential)))
  const energies = window.energies.data
  for (let column = 0; column < scene.bodies.length; column++) {
    const at = rowOf(step, row, column)
    if (!Number.isNaN(num(energies, at + energyAt.linear)) && !isKnown(energies, at)) return false
  }
  return isKnown(window.system.data, row * systemAt.width)
}

const kineticAt = ({ window }: Step, at: number): number =>
  num(window.energies.data, at + energyAt.linear) + num(window.energies.data, at + energyAt.rotational)

function kineticOf(step: Step): number {
  let sum = 0
  for (let column = 0; column < step.scene.bodies.length; column++) {
    const one = kineticAt(step, rowOf(step, step.row, column))
    if (Number.isFinite(one)) sum += one
  }
  return sum
}

/** The bodies that hold most of the kinetic energy, at most three. */
function fastest(step: Step): readonly number[] {
  const all = step.scene.bodies
    .map((body, column) => ({ body, kinetic: kineticAt(step, rowOf(step, step.row, column)) }))
    .filter(({ kinetic }) => kinetic > 0)
    .sort((a, b) => b.kinetic - a.kinetic)
  const most = all[0]?.kinetic ?? 0
  return all
    .filter(({ kinetic }) => kinetic >= 0.01 * most)
    .slice(0, 3)
    .map(({ body }) => body)
    .sort((a, b) => a - b)
}
