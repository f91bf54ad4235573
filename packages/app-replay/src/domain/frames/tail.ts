import type { Frame, RecordingSummary } from '@causeway/recording'
import { hasContacts } from '../recordings/capability.ts'
import { formatCount } from '../sentence.ts'
import { norm } from '../vector.ts'

/** Whether the frame has all parts that the recording's other frames have. */
export function isCompleteFrame(
  { states, system_energy, solver }: Frame,
  { capabilities }: Pick<RecordingSummary, 'capabilities'>,
): boolean {
  const hasPart = (part: 'states' | 'system_energy' | 'solver', isPresent: boolean): boolean =>
    isPresent || !capabilities.includes(part)
  return (
    hasPart('states', states.length > 0) &&
    hasPart('system_energy', system_energy !== null) &&
    hasPart('solver', solver !== null)
  )
}

/** Energies are in J, speeds in m/s. */
export function toTailFrame(
  { frame_id, simulation_time, states, collisions, solver, system_energy }: Frame,
  summary: Pick<RecordingSummary, 'capabilities'>,
) {
  let fastest: { readonly body_id: number; readonly speed: number } | null = null
  for (const { body_id, velocity } of states) {
    const speed = norm(velocity)
    if (speed !== null && (fastest === null || speed > fastest.speed)) fastest = { body_id, speed }
  }
  return {
    frame_id,
    simulation_time,
    total_system_e: system_energy?.total_system_e ?? null,
    delta_e: system_energy?.delta_e ?? null,
    pairs_in_contact: hasContacts(summary) ? collisions.length : null,
    converged: solver === null || solver.num_constraints === 0 ? null : solver.converged,
    fastest_body: fastest?.body_id ?? null,
    speed: fastest?.speed ?? null,
  }
}

export function summarizeTail({
  status,
  last_frame,
  frames,
  next_frame,
}: Readonly<Record<'last_frame' | 'frames' | 'next_frame', number>> & { readonly status: string }): string {
  const countText = frames === 0 ? 'No new frame' : formatCount(frames, 'frame')
  const end =
    next_frame < last_frame ? ` More up to frame ${last_frame}: pass after_frame ${next_frame}.` : ''
  const state = { live: 'still being recorded', interrupted: 'interrupted', finished: 'finished' }[status]
  return `${countText} up to frame ${Math.max(next_frame, 0)}${state === undefined ? '' : `; the recording is ${state}`}.${end}`
}
