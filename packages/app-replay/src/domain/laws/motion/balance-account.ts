import { type BodyId, stateAt } from '@causeway/recording'
import { getOffset, getOffsetBefore, read3 } from '../../steps/block.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import { dot3 } from '../../vector.ts'
import type { Unexplained } from './body-balance.ts'

export interface BalancedBodies {
  readonly key: string | number
  readonly bodies: readonly BodyId[]
  /** kg */
  readonly mass: number
}

/** Sums over the steps of a run, in SI units. */
export interface Account {
  /** Work of the residual. */
  work: number
  /** Work if the residual were along the velocity. */
  maxWork: number
  /** Largest residual and its limit. */
  residual: number
  allowed: number
  firstKinetic: number
  maxKinetic: number
  touched: boolean
  /** Sums over frames with complete impulses. */
  readonly acceleration: [number, number, number]
  squares: number
  judged: number
  /** Sums of acceleration times velocity, and of squared velocities, before and after the step. */
  readonly drags: readonly [Drag, Drag]
}

interface Drag {
  along: number
  square: number
}

/** Maximum in 1/s. Engines damp by 0.01 to 0.1 by default. */
export const maxDamping = 0.2

/** Share of the acceleration that damping need not explain. */
const dampingRest = 0.1

/** Returns c in 1/s by body if the acceleration is -c v in all flights of the body. */
export function findDampingRates(
  accounts: readonly (readonly [Run, Account])[],
): ReadonlyMap<BodyId | undefined, number> {
  const free = accounts.filter(([{ bodies }, { touched }]) => bodies.length === 1 && !touched)
  const rates = new Map<BodyId | undefined, number>()
  for (const body of new Set(free.map(([{ bodies }]) => bodies[0]))) {
    const rate = findDamping(free.filter(([{ bodies }]) => bodies[0] === body))
    if (rate !== undefined) rates.set(body, rate)
  }
  return rates
}

function findDamping(accounts: readonly (readonly [Run, Account])[]): number | undefined {
  const sum = (read: (account: Account, run: Run) => number): number =>
    accounts.reduce((total, [run, account]) => total + read(account, run), 0)
  if (sum(({ judged }) => judged) < 0.8 * sum((_, { frames }) => frames)) return undefined
  const squares = sum((account) => account.squares)
  for (const end of [0, 1] as const) {
    const along = sum(({ drags }) => drags[end].along)
    const square = sum(({ drags }) => drags[end].square)
    const rate = -along / square
    const isAlong = squares - along ** 2 / square <= dampingRest ** 2 * squares
    if (isAlong && rate > 0 && rate <= maxDamping) return rate
  }
  return undefined
}

export class BalanceAccounts {
  readonly #runs = new RunCollector(2)
  readonly #accounts = new Map<Run, Account>()

  get all(): readonly (readonly [Run, Account])[] {
    return this.#runs.runs.flatMap((run) => {
      const account = this.#accounts.get(run)
      return account === undefined ? [] : [[run, account] as const]
    })
  }

  add(step: Step, one: Unexplained, { key, bodies, mass }: BalancedBodies): void {
    const values = {
      value: one.work,
      limit: one.allowedWork,
      excess: Math.max(Math.abs(one.work) / one.allowedWork, one.residual / one.allowed),
    }
    const run = this.#runs.add(key, step.frame, values, { bodies, pair: null })
    const account = this.#accounts.get(run) ?? createAccount(one)
    this.#accounts.set(run, account)
    account.work += one.work
    account.maxWork += one.maxWork
    if (one.residual / one.allowed > account.residual / (account.allowed || 1)) {
      account.residual = one.residual
      account.allowed = one.allowed
    }
    account.maxKinetic = Math.max(account.maxKinetic, one.kinetic)
    account.touched ||= one.isConstrained
    if (one.left === null || !(mass > 0)) return
    account.judged += 1
    for (const i of [0, 1, 2] as const) {
      const part = one.left[i] / (mass * step.dt)
      account.acceleration[i] += part
      account.squares += part * part
    }
    const column = step.scene.columnById.get(bodies[0] ?? 0) ?? 0
    const at = [getOffsetBefore(step, column), getOffset(step, column)]
    for (const [end, drag] of account.drags.entries()) {
      const velocity = read3(step.window.states.data, (at[end] ?? 0) + stateAt.velocity)
      drag.along += dot3(one.left, velocity) / (mass * step.dt)
      drag.square += dot3(velocity, velocity)
    }
  }
}

const createAccount = ({ kineticBefore }: Unexplained): Account => ({
  work: 0,
  maxWork: 0,
  residual: 0,
  allowed: 0,
  firstKinetic: kineticBefore,
  maxKinetic: 0,
  touched: false,
  acceleration: [0, 0, 0],
  squares: 0,
  judged: 0,
  drags: [
    { along: 0, square: 0 },
    { along: 0, square: 0 },
  ],
})
