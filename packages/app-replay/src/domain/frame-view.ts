/** A frame as an answer: every list cut to a size that fits a model's context, and counted. */
import type { Frame } from '@causeway/recording'
import { count, quantity } from './sentence.ts'

const lists = [
  'states',
  'collisions',
  'contact_constraints',
  'friction_constraints',
  'external_forces',
  'body_energies',
] as const

/** A frame whose lists may be cut; `counts` are exact. */
export interface FrameView extends Frame {
  readonly counts: Readonly<Record<(typeof lists)[number], number>>
  readonly truncated: boolean
}

/** The frame with at most `limit` rows in each list. */
export function cutFrame(frame: Frame, limit: number): FrameView {
  const { states, collisions, contact_constraints, friction_constraints } = frame
  const { external_forces, body_energies } = frame
  return {
    ...frame,
    states: states.slice(0, limit),
    collisions: collisions.slice(0, limit),
    contact_constraints: contact_constraints.slice(0, limit),
    friction_constraints: friction_constraints.slice(0, limit),
    external_forces: external_forces.slice(0, limit),
    body_energies: body_energies.slice(0, limit),
    counts: {
      states: states.length,
      collisions: collisions.length,
      contact_constraints: contact_constraints.length,
      friction_constraints: friction_constraints.length,
      external_forces: external_forces.length,
      body_energies: body_energies.length,
    },
    truncated: lists.some((list) => frame[list].length > limit),
  }
}

/** The frame in words; `isTold` where the recording tells of contacts. */
export function frameSummary(
  frame: Frame,
  { counts, truncated, isTold }: Pick<FrameView, 'counts' | 'truncated'> & { readonly isTold: boolean },
): string {
  const { frame_id, simulation_time, solver } = frame
  const touching = isTold
    ? `${count(counts.collisions, 'colliding pair')}, ${count(counts.friction_constraints, 'friction constraint')}`
    : 'contacts not recorded'
  const head = `Frame ${frame_id} at ${quantity(simulation_time, 's')}: ${count(counts.states, 'body', 'bodies')}, ${touching}`
  const solved =
    solver === null || solver.num_constraints === 0
      ? ''
      : `; solver ${solver.converged ? 'converged' : 'not converged'} after ${count(solver.iterations ?? 0, 'iteration')}`
  const cut = truncated ? ' Lists are cut; counts are exact. Raise max_points, or ask for one body.' : ''
  return `${head}${solved}.${cut}`
}
