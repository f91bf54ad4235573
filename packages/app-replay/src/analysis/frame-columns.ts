import {
  type BodyId,
  type ColumnSelection,
  collisionAt,
  energyAt,
  type FrameRange,
  solverAt,
  stateAt,
  systemAt,
} from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { type FrameColumns, formatPairs } from '../domain/recordings/comparison.ts'

const selection: ColumnSelection = {
  parts: ['position', 'velocity', 'orientation', 'spin', 'energies', 'system', 'solver', 'collisions'],
}

/** Replaces the body ids of contacts by `newIds`. */
export async function readFrameColumns(
  { range, newIds }: { readonly range: FrameRange; readonly newIds: ReadonlyMap<BodyId, BodyId> },
  { windows, signal, progress }: AnalysisContext,
): Promise<FrameColumns> {
  const frames: number[] = []
  const states: number[] = []
  const totals: number[] = []
  const iterations: number[] = []
  const residuals: number[] = []
  const contacts: string[] = []
  let bodies: readonly number[] = []
  for await (const window of windows.over(range, { signal, progress }, selection)) {
    bodies = window.bodies
    for (let row = window.from; row < window.to; row++) {
      frames.push(window.frames[row] ?? Number.NaN)
      for (let body = 0; body < bodies.length; body++) {
        for (let field = 0; field < stateAt.width; field++) states.push(window.states.get(row, body, field))
        states.push(window.energies.get(row, body, energyAt.total))
      }
      totals.push(window.system.get(row, systemAt.total))
      iterations.push(window.solver.get(row, solverAt.iterations))
      residuals.push(window.solver.get(row, solverAt.residual))
      const pairs: [BodyId, BodyId][] = []
      const { offset, data } = window.collisions
      for (let at = offset[row] ?? 0; at < (offset[row + 1] ?? 0); at++)
        pairs.push([data.get(at, collisionAt.a), data.get(at, collisionAt.b)])
      contacts.push(formatPairs(pairs, newIds))
    }
  }
  return {
    bodies,
    frames: Float64Array.from(frames),
    states: Float64Array.from(states),
    totals: Float64Array.from(totals),
    iterations: Float64Array.from(iterations),
    residuals: Float64Array.from(residuals),
    contacts,
  }
}
