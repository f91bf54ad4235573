/**
 * Momentum and energy of every body, step by step.
 *
 * Momentum: r = m (v(N) - v(N-1)) - m g dt - J - F dt, with J the recorded contact impulses and F external forces, is 0.
 * Energy: what r does is work, r (v(N-1) + v(N)) / 2; a body that touches nothing also keeps its total energy, but for
 * the m g^2 dt^2 / 2 that a semi-implicit Euler step loses. Where impulses are not recorded (frictionless contacts) the
 * part of r along the normals is unknown and left out.
 *
 * A run of unexplained steps is one finding: `blow_up` where it multiplies the energy, `energy_injection` and
 * `energy_drift` where it adds some (at once, or little by little), `dissipation_without_contact` where a free body loses
 * some, `momentum` where the velocity changed and the energy hardly did.
 */

import { energyAt, stateAt } from '@causeway/recording'
import { length3, num } from './component.ts'
import { type Finding, findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns, type Run } from './run.ts'
import type { Step } from './step.ts'

/** Parts of the greatest term that a residual may be: free, and where contact impulses are in it. */
const balanceTolerance = { free: 0.01, contact: 0.05 } as const

/** Frames from which on a gain is a drift; factor of the kinetic energy from which on it is a blow-up. */
const energyRule = { driftFrames: 5, blowUpFactor: 1000 } as const

interface Account {
  /** J, work of what is unexplained */
  work: number
  /** J, work that it would be along the velocity */
  most: number
  /** N·s, greatest residual, and what it may be */
  residual: number
  allowed: number
  kineticFirst: number
  kineticMost: number
  touched: boolean
}

/** Makes the law. */
export function balanceLaw(): Law {
  const runs = collectRuns(2)
  const accounts = new Map<Run, Account>()

  const note = (step: Step, column: number, one: Unexplained): void => {
    const body = step.scene.bodies[column] ?? 0
    const run = runs.hit(
      body,
      step.frame,
      {
        value: one.work,
        limit: one.allowedWork,
        excess: Math.max(Math.abs(one.work) / one.allowedWork, one.residual / one.allowed),
      },
      { bodies: [body], pair: null },
    )
    const account = accounts.get(run) ?? {
      work: 0,
      most: 0,
      residual: 0,
      allowed: 0,
      kineticFirst: one.kineticBefore,
      kineticMost: 0,
      touched: false,
    }
    accounts.set(run, account)
    account.work += one.work
    account.most += one.most
    if (one.residual / one.allowed > account.residual / (account.allowed || 1)) {
      account.residual = one.residual
      account.allowed = one.allowed
    }
    account.kineticMost = Math.max(account.kineticMost, one.kinetic)
    account.touched ||= one.isTouching
  }

  return {
    see(step) {
      if (Number.isNaN(step.dt) || Number.isNaN(step.scene.g) || !step.scene.knowsContacts) return
      for (let column = 0; column < step.scene.bodies.length; column++) {
        const one = unexplained(step, column)
        if (one !== null) note(step, column, one)
      }
    },
    findings: () => runs.all().flatMap((run) => judge(run, accounts.get(run))),
  }
}

function judge(run: Run, account: Account | undefined): readonly Finding[] {
  if (account === undefined) return []
  const { work, most, residual, allowed, kineticFirst, kineticMost, touched } = account
  const confidence = touched ? 0.6 : 0.9
  const energy = { unit: 'J', confidence, value: work }
  const isPowered = Math.abs(work) > 0.05 * most
  if (run.frames >= 3 && kineticMost > energyRule.blowUpFactor * Math.max(kineticFirst, 1e-3))
    return [
      findingOf(
        { ...run, peak: run.last },
        { kind: 'blow_up', unit: 'J', confidence: 0.95, value: kineticMost },
      ),
    ]
  if (work > 0 && isPowered)
    return [
      findingOf(run, {
        ...energy,
        kind: run.frames >= energyRule.driftFrames ? 'energy_drift' : 'energy_injection',
      }),
    ]
  if (work < 0 && isPowered && !touched)
    return [findingOf(run, { ...energy, kind: 'dissipation_without_contact' })]
  return [findingOf(run, { kind: 'momentum', unit: 'N·s', confidence, value: residual, limit: allowed })]
}

interface Unexplained {
  readonly work: number
  readonly allowedWork: number
  readonly most: number
  readonly residual: number
  readonly allowed: number
  readonly kinetic: number
  readonly kineticBefore: number
  readonly isTouching: boolean
}

/** What the step of a body leaves unexplained; null where nothing, or where it cannot be judged. */
function unexplained(step: Step, column: number): Unexplained | null {
  const { scene, window, dt, impulse, external } = step
  const isTouching = step.touching[column] === 1
  if (isTouching && !scene.knowsImpulses) return null
  const isPushed = step.hasExternal[column] === 1
  const mass = num(scene.masses, column)
  const s = window.states.data
  const at = step.at(column) + stateAt.velocity
  const was = step.atBefore(column) + stateAt.velocity
  const vx = num(s, at)
  const vy = num(s, at + 1)
  const vz = num(s, at + 2)
  const ux = num(s, was)
  const uy = num(s, was + 1)
  const uz = num(s, was + 2)
  const [gx, gy, gz] = scene.gravity
  let rx = mass * (vx - ux - gx * dt)
  let ry = mass * (vy - uy - gy * dt)
  let rz = mass * (vz - uz - gz * dt)
  let pushed = 0
  if (isTouching || isPushed) {
    const part = 3 * column
    const contact = isTouching ? 1 : 0
    const jx = contact * num(impulse, part) + num(external, part) * dt
    const jy = contact * num(impulse, part + 1) + num(external, part + 1) * dt
    const jz = contact * num(impulse, part + 2) + num(external, part + 2) * dt
    pushed = Math.abs(jx) + Math.abs(jy) + Math.abs(jz)
    rx -= jx
    ry -= jy
    rz -= jz
    if (isTouching && step.impulseKnown[column] === 0) {
      const r: [number, number, number] = [rx, ry, rz]
      takeNormalsOut(step, column, r)
      ;[rx, ry, rz] = r
    }
  }
  const part = isTouching || isPushed ? balanceTolerance.contact : balanceTolerance.free
  const gain = isTouching || isPushed ? null : freeGain(step, column, mass)
  const isGain = gain !== null && Math.abs(gain.work) > gain.allowed
  // What gravity alone allows is allowed in any case: nearly every body of every frame ends here, without a root.
  const least = part * mass * scene.g * dt
  if (!isGain && rx * rx + ry * ry + rz * rz <= least * least) return null
  const residual = length3(rx, ry, rz)
  const [before, after] = [length3(ux, uy, uz), length3(vx, vy, vz)]
  // A single precision engine rounds velocities to 6e-8 of themselves, several times a step.
  const rounding = 2e-6 * mass * Math.max(before, after) + 1e-9
  const greatest = Math.max(mass * length3(vx - ux, vy - uy, vz - uz), mass * scene.g * dt, pushed)
  const allowed = 1e-6 + part * greatest + rounding
  const isOff = residual > allowed
  if (!isOff && !isGain) return null
  const work = (rx * (ux + vx) + ry * (uy + vy) + rz * (uz + vz)) / 2
  const middle = length3(ux + vx, uy + vy, uz + vz) / 2
  return {
    work: isGain ? gain.work : work,
    allowedWork: gain === null ? allowed * Math.max(before, after, 1e-3) : gain.allowed,
    most: isGain && !isOff ? Math.abs(gain.work) : residual * Math.max(middle, 1e-9),
    residual: Number.isNaN(residual) ? 0 : residual,
    allowed,
    kinetic: 0.5 * mass * after * after,
    kineticBefore: 0.5 * mass * before * before,
    isTouching,
  }
}

/** J that a free body gained in the step, beyond what a semi-implicit step loses, and what rounding may be; null for 0. */
function freeGain(step: Step, column: number, mass: number): { work: number; allowed: number } | null {
  const { scene, window, row, dt } = step
  const count = scene.bodies.length
  const e = window.energies.data
  const at = (row * count + column) * energyAt.width
  const was = ((row - 1) * count + column) * energyAt.width
  const gain = num(e, at + energyAt.total) - num(e, was + energyAt.total)
  const loss = 0.5 * mass * (scene.g * dt) ** 2
  // Between the loss of a semi-implicit step and nothing every integrator is right.
  const work = gain > 0 ? gain : Math.min(0, gain + 1.02 * loss)
  const size = Math.abs(num(e, at + energyAt.linear)) + Math.abs(num(e, at + energyAt.potential))
  const rounding = 1e-6 * size + 1e-9
  if (!(Math.abs(work) > rounding)) return null
  const spin = Math.max(num(e, at + energyAt.rotational), num(e, was + energyAt.rotational))
  return { work, allowed: rounding + spinTolerance(step, column) * spin }
}

/** Part of its rotational energy that the projection of a quaternion onto rotations may cost a step. */
const spinRounding = 2e-3

/** Part of its rotational energy that an explicit step may get wrong while the spin wanders: (dw / w)^2, and 0.3 (w dt)^2. */
function spinTolerance(step: Step, column: number): number {
  const s = step.window.states.data
  const at = step.at(column) + stateAt.spin
  const was = step.atBefore(column) + stateAt.spin
  const [a, b, c] = [num(s, at), num(s, at + 1), num(s, at + 2)]
  const spin = length3(a, b, c)
  if (!(spin > 0)) return 0
  const change = length3(a - num(s, was), b - num(s, was + 1), c - num(s, was + 2)) / spin
  return spinRounding + Math.min(4 * change * change, 0.3 * (spin * step.dt) ** 2)
}

/** Takes the parts along the normals of the body's contacts out of a residual. */
function takeNormalsOut({ touches }: Step, column: number, r: [number, number, number]): void {
  for (const { columnA, columnB, normal } of touches) {
    if (columnA !== column && columnB !== column) continue
    const along = r[0] * normal[0] + r[1] * normal[1] + r[2] * normal[2]
    for (const i of [0, 1, 2] as const) r[i] -= along * normal[i]
  }
}
