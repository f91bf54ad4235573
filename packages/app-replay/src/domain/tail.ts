/** Frames of a recording that grows, in brief. */
import type { Frame, RecordingSummary } from '@causeway/recording'
import { knowsContacts } from './capability.ts'
import { count } from './sentence.ts'
import { norm } from './vector.ts'

/** True where a frame holds every part that the frames of its recording have. */
export function completeFrame(
  { states, system_energy, solver }: Frame,
  { capabilities }: Pick<RecordingSummary, 'capabilities'>,
): boolean {
  const has = (part: 'states' | 'system_energy' | 'solver', isThere: boolean): boolean =>
    isThere || !capabilities.includes(part)
  return (
    has('states', states.length > 0) &&
    has('system_energy', system_energy !== null) &&
    has('solver', solver !== null)
  )
}

/** What is worth knowing of a frame before it is looked at: energy J, contacts (null where not told), the fastest body m/s. */
export function tailFrame(
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
    pairs_in_contact: knowsContacts(summary) ? collisions.length : null,
    converged: solver === null || solver.num_constraints === 0 ? null : solver.converged,
    fastest_body: fastest?.body_id ?? null,
    speed: fastest?.speed ?? null,
  }
}

/** How many frames came, and where the recording stands. */
export function tailSummary({
  status,
  last_frame,
  frames,
  next_frame,
}: Readonly<Record<'last_frame' | 'frames' | 'next_frame', number>> & { readonly status: string }): string {
  const what = frames === 0 ? 'No new frame' : count(frames, 'frame')
  const end =
    next_frame < last_frame ? ` More up to frame ${last_frame}: pass after_frame ${next_frame}.` : ''
  const state = { live: 'still being recorded', interrupted: 'interrupted', finished: 'finished' }[status]
  return `${what} up to frame ${Math.max(next_frame, 0)}${state === undefined ? '' : `; the recording is ${state}`}.${end}`
}
