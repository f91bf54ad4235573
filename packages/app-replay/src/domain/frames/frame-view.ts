import type { Frame } from '@causeway/recording'
import { formatCount, formatQuantity } from '../sentence.ts'

const lists = [
  'states',
  'collisions',
  'contact_constraints',
  'friction_constraints',
  'external_forces',
  'body_energies',
] as const

/** A frame whose lists may be truncated. `counts` are exact. */
export interface TruncatedFrame extends Omit<Frame, 'joints'> {
  /** Missing without joints. */
  readonly joints?: Frame['joints']
  readonly counts: Readonly<Record<(typeof lists)[number], number>> & { readonly joints?: number }
  readonly truncated: boolean
}

export function truncateFrame({ joints, ...frame }: Frame, limit: number): TruncatedFrame {
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
    ...(joints.length > 0 && { joints: joints.slice(0, limit) }),
    counts: {
      states: states.length,
      collisions: collisions.length,
      contact_constraints: contact_constraints.length,
      friction_constraints: friction_constraints.length,
      external_forces: external_forces.length,
      body_energies: body_energies.length,
      ...(joints.length > 0 && { joints: joints.length }),
    },
    truncated: joints.length > limit || lists.some((list) => frame[list].length > limit),
  }
}

export function summarizeFrame(frame: TruncatedFrame, hasContacts: boolean): string {
  const { frame_id, simulation_time, solver, counts, truncated } = frame
  const touching = hasContacts
    ? `${formatCount(counts.collisions, 'colliding pair')}, ${formatCount(counts.friction_constraints, 'friction constraint')}`
    : 'contacts not recorded'
  const head = `Frame ${frame_id} at ${formatQuantity(simulation_time, 's')}: ${formatCount(counts.states, 'body', 'bodies')}, ${touching}`
  const solved =
    solver === null || solver.num_constraints === 0
      ? ''
      : `; solver ${solver.converged === null ? 'ended' : solver.converged ? 'converged' : 'not converged'} after ${formatCount(solver.iterations ?? 0, 'iteration')}`
  const cut = truncated
    ? ' Lists are truncated; counts are exact. Raise max_points, or call get_body_state.'
    : ''
  return `${head}${solved}.${cut}`
}
