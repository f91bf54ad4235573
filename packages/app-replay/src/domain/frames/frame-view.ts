import type { Frame } from '@causeway/recording'
import { formatCount, formatQuantity } from '../sentence.ts'

type FrameRows = readonly unknown[]

export interface FrameLists {
  readonly states: FrameRows
  readonly collisions: FrameRows
  readonly friction_constraints: FrameRows
  readonly contact_constraints?: FrameRows
  readonly external_forces?: FrameRows
  readonly body_energies?: FrameRows
  readonly joints?: FrameRows
}

/** `counts` are the full lengths of the lists. */
export interface FrameView extends Omit<Frame, keyof FrameLists>, FrameLists {
  readonly counts: { readonly [List in keyof FrameLists]: number }
  readonly truncated: boolean
}

/**
 * `limit` applies to each list. `details` adds accelerations, contact constraints, external forces and body energies.
 */
export function viewFrame(frame: Frame, limit: number, details: boolean): FrameView {
  const { frame_id, simulation_time, solver, system_energy, joints, collisions, friction_constraints } = frame
  const { contact_constraints, external_forces, body_energies } = frame
  const truncatedLists: FrameLists = {
    states: details ? frame.states : frame.states.map(({ acceleration: _, ...state }) => state),
    collisions,
    friction_constraints,
    ...(details && { contact_constraints, external_forces, body_energies }),
    ...(joints.length > 0 && { joints }),
  }
  return {
    frame_id,
    simulation_time,
    ...mapLists(truncatedLists, (rows) => rows.slice(0, limit)),
    solver,
    system_energy,
    counts: mapLists(truncatedLists, (rows) => rows.length),
    truncated: Object.values(truncatedLists).some((rows) => rows.length > limit),
  }
}

function mapLists<T>(lists: FrameLists, convert: (rows: FrameRows) => T) {
  const entries = Object.entries(lists).map(([name, rows]) => [name, convert(rows)])
  return Object.fromEntries(entries) as { readonly [List in keyof FrameLists]: T }
}

export function summarizeFrame(frame: Frame, hasContacts: boolean, truncated: boolean): string {
  const { frame_id, simulation_time, solver, states, collisions, friction_constraints } = frame
  const contactText = hasContacts
    ? `${formatCount(collisions.length, 'colliding pair')}, ${formatCount(friction_constraints.length, 'friction constraint')}`
    : 'contacts not recorded'
  const frameText = `Frame ${frame_id} at ${formatQuantity(simulation_time, 's')}: ${formatCount(states.length, 'body', 'bodies')}, ${contactText}`
  const solverText =
    solver === null || solver.num_constraints === 0
      ? ''
      : `; solver ${solver.converged === null ? 'ended' : solver.converged ? 'converged' : 'not converged'}${solver.iterations === null ? '' : ` after ${formatCount(solver.iterations, 'iteration')}`}`
  const truncationText = truncated
    ? ' Lists are truncated; counts are exact. Raise max_points, or call get_body_state.'
    : ''
  return `${frameText}${solverText}.${truncationText}`
}
