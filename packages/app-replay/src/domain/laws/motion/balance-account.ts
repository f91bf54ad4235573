import { type BodyId, stateAt } from '@causeway/recording'
import { getOffset, getOffsetBefore, read3 } from '../../steps/block.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import { dot3 } from '../../vector.ts'
import type { UnexplainedMotion } from './body-balance.ts'

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
  allowedResidual: number
  firstKinetic: number
  maxKinetic: number
  isConstrained: boolean
  /** Sums over frames with complete impulses. */
  readonly acceleration: [number, number, number]
  squares: number
  judgedFrames: number
  /** Sums of acceleration times velocity, and of squared velocities, before and after the step. */
  readonly drags: readonly [Drag, Drag]
}

interface Drag {
  along: number
  square: number
}

/** Maximum in 1/s. Engines damp by 0.01 to 0.1 by default. */
export const maxDamping = 0.2

/** Maximum fraction of the acceleration that damping leaves unexplained. */
const maxDampingError = 0.1

/** Returns c in 1/s for each body whose acceleration is -c v in all its flights. */
export function findDampingRateByBody(
  accounts: readonly (readonly [Run, Account])[],
): ReadonlyMap<BodyId | undefined, number> {
  const freeAccounts = accounts.filter(
    ([{ bodies }, { isConstrained }]) => bodies.length === 1 && !isConstrained,
  )
  const rates = new Map<BodyId | undefined, number>()
  for (const body of new Set(freeAccounts.map(([{ bodies }]) => bodies[0]))) {
    const rate = findDamping(freeAccounts.filter(([{ bodies }]) => bodies[0] === body))
    if (rate !== undefined) rates.set(body, rate)
  }
  return rates
}

function findDamping(accounts: readonly (readonly [Run, Account])[]): number | undefined {
  const sum = (read: (account: Account, run: Run) => number): number =>
    accounts.reduce((total, [run, account]) => total + read(account, run), 0)
  if (sum(({ judgedFrames }) => judgedFrames) < 0.8 * sum((_, { frames }) => frames)) return undefined
  const squares = sum((account) => account.squares)
  for (const end of [0, 1] as const) {
    const along = sum(({ drags }) => drags[end].along)
    const square = sum(({ drags }) => drags[end].square)
    const rate = -along / square
    const isAlong = squares - along ** 2 / square <= maxDampingError ** 2 * squares
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

  add(step: Step, unexplained: UnexplainedMotion, { key, bodies, mass }: BalancedBodies): void {
    const values = {
      value: unexplained.work,
      limit: unexplained.allowedWork,
      excess: Math.max(
        Math.abs(unexplained.work) / unexplained.allowedWork,
        unexplained.residual / unexplained.allowedResidual,
      ),
    }
    const run = this.#runs.add(key, step.frame, values, { bodies, pair: null })
    const account = this.#accounts.get(run) ?? createAccount(unexplained)
    this.#accounts.set(run, account)
    account.work += unexplained.work
    account.maxWork += unexplained.maxWork
    if (
      unexplained.residual / unexplained.allowedResidual >
      account.residual / (account.allowedResidual || 1)
    ) {
      account.residual = unexplained.residual
      account.allowedResidual = unexplained.allowedResidual
    }
    account.maxKinetic = Math.max(account.maxKinetic, unexplained.kinetic)
    account.isConstrained ||= unexplained.isConstrained
    if (unexplained.residualImpulse === null || !(mass > 0)) return
    account.judgedFrames += 1
    for (const i of [0, 1, 2] as const) {
      const part = unexplained.residualImpulse[i] / (mass * step.dt)
      account.acceleration[i] += part
      account.squares += part * part
    }
    const column = step.scene.columnById.get(bodies[0] ?? 0) ?? 0
    const at = [getOffsetBefore(step, column), getOffset(step, column)]
    for (const [end, drag] of account.drags.entries()) {
      const velocity = read3(step.window.states.data, (at[end] ?? 0) + stateAt.velocity)
      drag.along += dot3(unexplained.residualImpulse, velocity) / (mass * step.dt)
      drag.square += dot3(velocity, velocity)
    }
  }
}

const createAccount = ({ kineticBefore }: UnexplainedMotion): Account => ({
  work: 0,
  maxWork: 0,
  residual: 0,
  allowedResidual: 0,
  firstKinetic: kineticBefore,
  maxKinetic: 0,
  isConstrained: false,
  acceleration: [0, 0, 0],
  squares: 0,
  judgedFrames: 0,
  drags: [
    { along: 0, square: 0 },
    { along: 0, square: 0 },
  ],
})
