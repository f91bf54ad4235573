import { type BodyId, solverAt } from '@causeway/recording'
import { num } from './block.ts'
import type { Step } from './step.ts'

/** Consecutive frames without convergence. */
export interface Stall {
  readonly frames: { readonly first: number; readonly last: number; readonly peak: number }
  /** Maximum residual. */
  readonly residual: number | null
  /** Last residual divided by the first. */
  readonly residual_growth: number | null
  readonly iterations: number
  /** Whether the solver used as many iterations as the largest number in the range. */
  readonly at_cap: boolean
  readonly bodies: readonly BodyId[]
  /** Largest mass divided by the smallest; `null` if a mass is unknown. */
  readonly mass_ratio: number | null
}

interface OpenStall {
  readonly first: number
  last: number
  peak: number
  residual: number
  /** NaN until a residual was recorded. */
  firstResidual: number
  lastResidual: number
  iterations: number
  readonly columns: Set<number>
}

export class StallCollector {
  readonly #stalls: OpenStall[] = []
  #judged = 0
  #maxIterations = 0
  #scene: Step['scene'] | undefined

  observe(step: Step): void {
    const { scene, frame, row, window, touching } = step
    this.#scene = scene
    const at = row * solverAt.width
    const solver = window.solver.data
    const iterations = num(solver, at + solverAt.iterations) || 0
    if (!hasConstraints(step)) return
    if (!Number.isNaN(num(solver, at + solverAt.converged))) this.#judged += 1
    this.#maxIterations = Math.max(this.#maxIterations, iterations)
    if (num(solver, at + solverAt.converged) !== 0) return
    const residual = num(solver, at + solverAt.residual)
    let stall = this.#stalls.at(-1)
    if (stall === undefined || stall.last !== frame - 1) {
      const frames = { first: frame, last: frame, peak: frame }
      const residuals = { residual, firstResidual: residual, lastResidual: residual }
      stall = { ...frames, ...residuals, iterations: 0, columns: new Set() }
      this.#stalls.push(stall)
    }
    stall.last = frame
    stall.iterations = Math.max(stall.iterations, iterations)
    if (!Number.isNaN(residual)) addResidual(stall, residual, frame)
    for (const [column, isTouching] of touching.entries()) if (isTouching === 1) stall.columns.add(column)
  }

  /** `judged` is the number of frames with constraints and a recorded `converged`. */
  result(): { readonly stalls: readonly Stall[]; readonly judged: number; readonly iterations_cap: number } {
    const stalls = this.#stalls.map((stall) => this.#toStall(stall))
    return { stalls, judged: this.#judged, iterations_cap: this.#maxIterations }
  }

  #toStall({ first, last, peak, residual, iterations, columns, ...stall }: OpenStall): Stall {
    const sorted = [...columns].sort((a, b) => a - b)
    const masses = sorted.map((column) => this.#scene?.masses[column] ?? Number.NaN)
    return {
      frames: { first, last, peak },
      residual: toFinite(residual),
      residual_growth: toFinite(stall.lastResidual / stall.firstResidual),
      iterations,
      at_cap: iterations >= this.#maxIterations,
      bodies: sorted.map((column) => this.#scene?.bodies[column] ?? 0),
      mass_ratio: toFinite(Math.max(...masses) / Math.min(...masses)),
    }
  }
}

function addResidual(stall: OpenStall, residual: number, frame: number): void {
  if (Number.isNaN(stall.firstResidual)) stall.firstResidual = residual
  stall.lastResidual = residual
  if (residual <= stall.residual) return
  stall.residual = residual
  stall.peak = frame
}

/** Whether the step has constraints, or iterations while bodies touch. */
export function hasConstraints({ row, window, touches }: Step): boolean {
  const at = row * solverAt.width
  const solver = window.solver.data
  return (
    num(solver, at + solverAt.constraints) > 0 ||
    (touches.length > 0 && num(solver, at + solverAt.iterations) > 0)
  )
}

const toFinite = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(6)) : null
