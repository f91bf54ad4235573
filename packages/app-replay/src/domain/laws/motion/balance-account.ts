import type { BodyId } from '@causeway/recording'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
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
})
