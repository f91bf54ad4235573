import type { RecordingSummary } from '@causeway/recording'
import type { Finding, FindingKind } from './finding.ts'

type RecordedFrames = RecordingSummary['frames']

type ToolCall = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const toRange = ({ frames }: Finding) => ({ start_frame: frames.first, end_frame: frames.last })

const createNumericsCall = (finding: Finding): ToolCall => [
  'diagnose',
  { law: 'numerics', ...toRange(finding) },
]

const getPreviousFrame = (frame: number, recorded: RecordedFrames): number =>
  Math.max(frame - 1, recorded?.first_frame ?? frame)

const getNextFrame = (frame: number, recorded: RecordedFrames): number =>
  Math.min(frame + 1, recorded?.last_frame ?? frame)

const createHistoryCall = ({ pair, bodies, frames }: Finding, recorded: RecordedFrames): ToolCall => {
  const [body_a_id, body_b_id] = pair ?? bodies
  const [start_frame, end_frame] = [
    getPreviousFrame(frames.first, recorded),
    getNextFrame(frames.last, recorded),
  ]
  return ['get_contact_history', { body_a_id, body_b_id, start_frame, end_frame }]
}

/** Compares with the previous frame, or the first frame with the next one. */
const createMotionCall = (
  { bodies: [body_id], frames: { first } }: Finding,
  recorded: RecordedFrames,
): ToolCall => {
  const frame_a = getPreviousFrame(first, recorded)
  const frame_b = frame_a < first ? first : getNextFrame(first, recorded)
  return ['compare_body_across_frames', { body_id, frame_a, frame_b }]
}

const createContactsCall = ({ bodies: [body_id], frames: { peak } }: Finding): ToolCall => [
  'get_contacts_for_body',
  { body_id, frame_id: peak },
]

const createEnergyCall = (
  { bodies: [body_id], frames: { first, last } }: Finding,
  recorded: RecordedFrames,
): ToolCall => [
  'get_body_energy',
  { body_id, start_frame: getPreviousFrame(first, recorded), end_frame: last },
]

const createRestCall = ({ frames: { first, last } }: Finding): ToolCall => [
  'check_resting_contact',
  { frame_id: first, end_frame: last },
]

const callFactories: Readonly<Record<FindingKind, (finding: Finding, recorded: RecordedFrames) => ToolCall>> =
  {
    nan: createNumericsCall,
    missing_frames: createNumericsCall,
    frozen_time: createNumericsCall,
    nonuniform_dt: createNumericsCall,
    quaternion_norm: createNumericsCall,
    invalid_mass: () => ['get_metadata', {}],
    invalid_body_id: () => ['get_metadata', {}],
    duplicate_state: createMotionCall,
    teleport: createMotionCall,
    unexplained_acceleration: createMotionCall,
    unit_mismatch: createMotionCall,
    velocity_mismatch: createMotionCall,
    frozen_orientation: createMotionCall,
    spin_mismatch: createMotionCall,
    angular_momentum: createMotionCall,
    invalid_impulse: createContactsCall,
    missing_contact: createMotionCall,
    contact_gap: createContactsCall,
    missing_reaction: createContactsCall,
    unequal_reaction: createContactsCall,
    attractive_impulse: createContactsCall,
    friction_energy: createContactsCall,
    friction_lost: createContactsCall,
    momentum: createMotionCall,
    joint_drift: createMotionCall,
    tunnelling: createMotionCall,
    energy_rows: createEnergyCall,
    blow_up: createEnergyCall,
    energy_injection: createEnergyCall,
    energy_drift: createEnergyCall,
    dissipation_without_contact: createEnergyCall,
    friction_cone: ({ frames }) => ['check_friction_cone', { frame_id: frames.peak }],
    penetration: ({ frames }) => ['check_penetration', { frame_id: frames.peak }],
    restitution: (finding) => ['diagnose', { law: 'restitution', ...toRange(finding) }],
    normal_flip: createHistoryCall,
    contact_chatter: createHistoryCall,
    solver_stall: (finding) => ['get_solver_diagnostics', { stalls: true, ...toRange(finding) }],
    jitter: createRestCall,
    creep: createRestCall,
  }

/** Returns a call such as `explain_frame {"frame_id":45}`, and a call that checks the law. */
export const listEvidenceCalls = (finding: Finding, recorded: RecordedFrames): readonly string[] =>
  [
    ['explain_frame', { frame_id: finding.frames.first }] as const,
    callFactories[finding.kind](finding, recorded),
  ].map(([tool, args]) => `${tool} ${JSON.stringify(args)}`)
