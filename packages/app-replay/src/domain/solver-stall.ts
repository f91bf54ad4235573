/** Runs in which the solver did not converge: its residual, whether it used all its iterations, which masses met. */
import { type BodyId, solverAt } from '@causeway/recording'
import { num } from './laws/component.ts'
import type { Step } from './laws/step.ts'

/** Frames without a break in which the solver did not converge though it had constraints. */
export interface Stall {
  readonly frames: { readonly first: number; readonly last: number; readonly peak: number }
  /** greatest residual, at `frames.peak` */
  readonly residual: number | null
  /** last residual by first: above 1 it grew */
  readonly residual_growth: number | null
  readonly iterations: number
  /** true where it stopped at the most iterations seen anywhere in the range */
  readonly at_cap: boolean
  /** bodies in contact */
  readonly bodies: readonly BodyId[]
  /** greatest mass of them by the least; null where masses are unknown */
  readonly mass_ratio: number | null
}

interface OpenStall {
  first: number
  last: number
  peak: number
  residual: number
  firstResidual: number
  lastResidual: number
  iterations: number
  readonly columns: Set<number>
}

/** Collects stalls over steps in frame order. */
export interface StallCollector {
  see(step: Step): void
  stalls(): { readonly stalls: readonly Stall[]; readonly judged: number; readonly iterations_cap: number }
}

/** Makes an empty collector. */
export function collectStalls(): StallCollector {
  const found: OpenStall[] = []
  let judged = 0
  let cap = 0
  let scene: Step['scene'] | undefined
  return {
    see(step) {
      scene = step.scene
      const { frame, row, window } = step
      const at = row * solverAt.width
      const solver = window.solver.data
      if (!(num(solver, at + solverAt.constraints) > 0)) return
      judged += 1
      const iterations = num(solver, at + solverAt.iterations)
      cap = Math.max(cap, iterations || 0)
      if (num(solver, at + solverAt.converged) !== 0) return
      const residual = num(solver, at + solverAt.residual)
      let stall = found.at(-1)
      if (stall === undefined || stall.last !== frame - 1) {
        const fresh = { first: frame, last: frame, peak: frame, residual, firstResidual: residual }
        stall = { ...fresh, lastResidual: residual, iterations: 0, columns: new Set() }
        found.push(stall)
      }
      stall.last = frame
      stall.lastResidual = residual
      stall.iterations = Math.max(stall.iterations, iterations || 0)
      if (residual > stall.residual) {
        stall.residual = residual
        stall.peak = frame
      }
      for (let column = 0; column < step.touching.length; column++)
        if (step.touching[column] === 1) stall.columns.add(column)
    },
    stalls: () => ({
      stalls: found.map((stall) => toStall(stall, cap, scene)),
      judged,
      iterations_cap: cap,
    }),
  }
}

const finite = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(6)) : null

function toStall(stall: OpenStall, cap: number, scene: Step['scene'] | undefined): Stall {
  const columns = [...stall.columns].sort((a, b) => a - b)
  const masses = columns.map((column) => num(scene?.masses ?? new Float64Array(), column))
  return {
    frames: { first: stall.first, last: stall.last, peak: stall.peak },
    residual: finite(stall.residual),
    residual_growth: finite(stall.lastResidual / stall.firstResidual),
    iterations: stall.iterations,
    at_cap: stall.iterations >= cap,
    bodies: columns.map((column) => scene?.bodies[column] ?? 0),
    mass_ratio: finite(Math.max(...masses) / Math.min(...masses)),
  }
}
