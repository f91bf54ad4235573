/** Calls that show what a finding says, as a client writes them: `explain_frame {"frame_id":45}`. */
import type { Finding, FindingKind } from './finding.ts'

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const range = ({ frames }: Finding): Readonly<Record<string, unknown>> => ({
  start_frame: frames.first,
  end_frame: frames.last,
})

const clock = (finding: Finding): Call => ['check_numerics', range(finding)]
const pairOf = ({ pair, bodies }: Finding): readonly (number | undefined)[] => pair ?? bodies
const history = (finding: Finding): Call => [
  'get_contact_history',
  {
    body_a_id: pairOf(finding)[0],
    body_b_id: pairOf(finding)[1],
    start_frame: finding.frames.first - 1,
    end_frame: finding.frames.last + 1,
  },
]
const motion = (finding: Finding): Call => [
  'compare_body_across_frames',
  { body_id: finding.bodies[0], frame_a: finding.frames.first - 1, frame_b: finding.frames.first },
]
const energy = (finding: Finding): Call => [
  'get_body_energy',
  { body_id: finding.bodies[0], start_frame: finding.frames.first - 1, end_frame: finding.frames.last },
]

const second: Readonly<Record<FindingKind, (finding: Finding) => Call>> = {
  nan: clock,
  missing_frames: clock,
  frozen_time: clock,
  nonuniform_dt: clock,
  quaternion_norm: clock,
  teleport: motion,
  momentum: motion,
  tunnelling: motion,
  blow_up: energy,
  energy_injection: energy,
  energy_drift: energy,
  dissipation_without_contact: energy,
  friction_cone: ({ frames }) => ['check_friction_cone', { frame_id: frames.peak }],
  penetration: ({ frames }) => ['check_penetration', { frame_id: frames.peak }],
  restitution: (finding) => ['check_restitution', range(finding)],
  normal_flip: history,
  contact_chatter: history,
  solver_stall: (finding) => ['find_solver_stalls', range(finding)],
  jitter: ({ frames }) => ['check_resting_contact', { frame_id: frames.first, end_frame: frames.last }],
  creep: ({ frames }) => ['check_resting_contact', { frame_id: frames.first, end_frame: frames.last }],
}

/** Two calls: the first bad frame explained, and what the law is about. */
export const evidenceCalls = (finding: Finding): readonly string[] =>
  [['explain_frame', { frame_id: finding.frames.first }] as const, second[finding.kind](finding)].map(
    ([tool, args]) => `${tool} ${JSON.stringify(args)}`,
  )
