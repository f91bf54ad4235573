import type { RecordingSummary } from '@causeway/recording'
import type { Finding, FindingKind } from './finding.ts'

type Recorded = RecordingSummary['frames']

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const toRange = ({ frames }: Finding) => ({ start_frame: frames.first, end_frame: frames.last })

const numerics = (finding: Finding): Call => ['diagnose', { law: 'numerics', ...toRange(finding) }]

const findBefore = (frame: number, recorded: Recorded): number =>
  Math.max(frame - 1, recorded?.first_frame ?? frame)

const findAfter = (frame: number, recorded: Recorded): number =>
  Math.min(frame + 1, recorded?.last_frame ?? frame)

const history = ({ pair, bodies, frames }: Finding, recorded: Recorded): Call => {
  const [body_a_id, body_b_id] = pair ?? bodies
  const [start_frame, end_frame] = [findBefore(frames.first, recorded), findAfter(frames.last, recorded)]
  return ['get_contact_history', { body_a_id, body_b_id, start_frame, end_frame }]
}

/** Compares with the previous frame. For the first frame, compares with the next one. */
const motion = ({ bodies: [body_id], frames: { first } }: Finding, recorded: Recorded): Call => {
  const frame_a = findBefore(first, recorded)
  const frame_b = frame_a < first ? first : findAfter(first, recorded)
  return ['compare_body_across_frames', { body_id, frame_a, frame_b }]
}

const contacts = ({ bodies: [body_id], frames: { peak } }: Finding): Call => [
  'get_contacts_for_body',
  { body_id, frame_id: peak },
]

const energy = ({ bodies: [body_id], frames: { first, last } }: Finding, recorded: Recorded): Call => [
  'get_body_energy',
  { body_id, start_frame: findBefore(first, recorded), end_frame: last },
]

const rest = ({ frames: { first, last } }: Finding): Call => [
  'check_resting_contact',
  { frame_id: first, end_frame: last },
]

const createCall: Readonly<Record<FindingKind, (finding: Finding, recorded: Recorded) => Call>> = {
  nan: numerics,
  missing_frames: numerics,
  frozen_time: numerics,
  nonuniform_dt: numerics,
  quaternion_norm: numerics,
  invalid_mass: () => ['get_metadata', {}],
  invalid_body_id: () => ['get_metadata', {}],
  duplicate_state: motion,
  teleport: motion,
  unexplained_acceleration: motion,
  unit_mismatch: motion,
  velocity_mismatch: motion,
  frozen_orientation: motion,
  spin_mismatch: motion,
  angular_momentum: motion,
  invalid_impulse: contacts,
  missing_contact: motion,
  contact_gap: contacts,
  missing_reaction: contacts,
  unequal_reaction: contacts,
  attractive_impulse: contacts,
  friction_energy: contacts,
  friction_lost: contacts,
  momentum: motion,
  joint_drift: motion,
  tunnelling: motion,
  energy_rows: energy,
  blow_up: energy,
  energy_injection: energy,
  energy_drift: energy,
  dissipation_without_contact: energy,
  friction_cone: ({ frames }) => ['check_friction_cone', { frame_id: frames.peak }],
  penetration: ({ frames }) => ['check_penetration', { frame_id: frames.peak }],
  restitution: (finding) => ['diagnose', { law: 'restitution', ...toRange(finding) }],
  normal_flip: history,
  contact_chatter: history,
  solver_stall: (finding) => ['get_solver_diagnostics', { stalls: true, ...toRange(finding) }],
  jitter: rest,
  creep: rest,
}

/** Returns `explain_frame {"frame_id":45}` and a call that checks the law. */
export const listEvidenceCalls = (finding: Finding, recorded: Recorded): readonly string[] =>
  [
    ['explain_frame', { frame_id: finding.frames.first }] as const,
    createCall[finding.kind](finding, recorded),
  ].map(([tool, args]) => `${tool} ${JSON.stringify(args)}`)
