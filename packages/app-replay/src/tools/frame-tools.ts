import type { BodyId, Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { findBodyState } from '../domain/bodies/absent-body.ts'
import { listBodies } from '../domain/bodies/body.ts'
import { type BodyComparison, compareBody, summarizeComparison } from '../domain/bodies/body-comparison.ts'
import { type BodyNames, listRecordedNames, nameBodies } from '../domain/bodies/body-names.ts'
import { describeFinding, toFindingRow } from '../domain/findings/finding-view.ts'
import type { RankedFinding } from '../domain/findings/ranking.ts'
import { explainFrame, type FrameExplanation } from '../domain/frames/frame-balance.ts'
import { summarizeFrame, viewFrame } from '../domain/frames/frame-view.ts'
import { hasContacts } from '../domain/recordings/capability.ts'
import { capitalize, formatCount, formatQuantity, toSentence } from '../domain/sentence.ts'
import { norm } from '../domain/vector.ts'
import { readBodyNames } from '../session/body-names.ts'
import { type Diagnosis, diagnose } from '../session/diagnose.ts'
import { findFrame, getForceScale } from '../session/frames.ts'
import type { AnswerStamp } from '../session/session.ts'
import {
  bodyArgument,
  defaultPoints,
  frameArgument,
  pageArguments,
  type Registration,
  recordingTool,
  rows,
  vector,
} from './recording-tool.ts'

const contextFrames = 40

/** Returns text such as `Body 2` or `Crate (body 2)`. */
const nameSubject = (body: BodyId, { summary }: Recording): string =>
  capitalize(nameBodies([body], listRecordedNames(summary)))

export const frameTools: readonly Registration[] = [
  recordingTool('get_frame', {
    title: 'Get frame',
    about:
      'Return a frame: states after its step, contacts, solver and energy (J). Use explain_frame for causes, get_body_state for one body.',
    searchHint: 'everything at one step, moment, snapshot',
    input: {
      frame_id: frameArgument,
      max_points: pageArguments.max_points,
      details: z
        .boolean()
        .optional()
        .describe('Add constraints, external forces, body energies, accelerations'),
    },
    output: { states: rows(), collisions: rows(), friction_constraints: rows() },
    widget: 'scene',
    example: { args: { recording: 'drop', frame_id: 42 } },
    run: async ({ frame_id, max_points, details }, { recording, stamp }) =>
      getFrameAnswer(recording, await recording.frame(frame_id), stamp, { limit: max_points, details }),
  }),

  recordingTool('get_body_state', {
    title: 'Get body state',
    about:
      'Return position (m), velocity, orientation and angular velocity (body frame) of a body in a frame. Use get_series for many frames.',
    searchHint: 'where is object, location, pose, rotation',
    input: { body_id: bodyArgument, frame_id: frameArgument },
    output: { position: vector(), velocity: vector(), orientation: vector() },
    example: { args: { recording: 'drop', body_id: 2, frame_id: 30 } },
    async run({ body_id, frame_id }, { recording }) {
      const body = recording.resolveBody(body_id)
      const frame = await recording.frame(frame_id)
      const state = findBodyState(frame, body, recording.summary)
      const speed = norm(state.velocity)
      const angular_speed = state.angular_velocity === null ? null : norm(state.angular_velocity)
      const { simulation_time } = frame
      return {
        ...state,
        frame_id,
        simulation_time,
        speed,
        angular_speed,
        summary: `${nameSubject(body, recording)} in frame ${frame_id} (${formatQuantity(simulation_time, 's')}): speed ${formatQuantity(speed, 'm/s')}, spin ${formatQuantity(angular_speed, 'rad/s')}, height ${formatQuantity(state.position.z, 'm')}.`,
      }
    },
  }),

  recordingTool('compare_body_across_frames', {
    title: 'Compare body across frames',
    about: 'Return the change of a body between two frames: position, velocity, rotation, contacts and time.',
    searchHint: 'how object moved between steps',
    input: {
      body_id: bodyArgument,
      frame_a: z.int().describe('Earlier'),
      frame_b: z.int().describe('Later'),
    },
    output: { position_delta: vector(), velocity_delta: vector() },
    example: { args: { recording: 'drop', body_id: 2, frame_a: 30, frame_b: 42 } },
    async run({ body_id, frame_a, frame_b }, { recording }) {
      const body = recording.resolveBody(body_id)
      const read = async (frameId: number) => {
        const frame = await recording.frame(frameId)
        return { frame, state: findBodyState(frame, body, recording.summary) }
      }
      const [a, b] = await Promise.all([read(frame_a), read(frame_b)])
      const compared = compareBody(a, b)
      const change: BodyComparison = hasContacts(recording.summary)
        ? compared
        : { ...compared, contact_delta: null }
      return {
        body_id: body,
        frame_a,
        frame_b,
        ...change,
        summary: summarizeComparison(nameSubject(body, recording), { a, b }, change),
      }
    },
  }),

  recordingTool('explain_frame', {
    title: 'Explain frame',
    about: 'Explain a frame: forces (N), contacts, changes, broken laws. Use it to find why a body moves.',
    searchHint: 'why object starts to move, slides, falls',
    input: {
      frame_id: frameArgument,
      details: z.boolean().optional().describe('Add laws, energy'),
    },
    widget: 'scene',
    example: { args: { recording: 'slide_at_45', frame_id: 45 } },
    async run({ frame_id, details }, { recording, range, ctx }) {
      const frame = await recording.frame(frame_id)
      const before = (await findFrame(recording, frame_id - 1)) ?? null
      const scale = await getForceScale(recording, frame)
      const touching = [frame, before].flatMap((contactFrame) => [
        ...(contactFrame?.collisions ?? []),
        ...(contactFrame?.friction_constraints ?? []),
      ])
      const names = await readBodyNames(recording, listBodies(touching), ctx)
      const explanation = explainFrame(frame, { before, summary: recording.summary, scale, names })
      const surroundingRange = range({
        start_frame: frame_id - contextFrames,
        end_frame: frame_id + contextFrames,
      })
      const { findings, coverage, ...diagnosis } = await diagnose(recording, surroundingRange, ctx)
      const present = findings.filter(({ frames }) => frames.first <= frame_id && frame_id <= frames.last)
      return {
        frame_id,
        simulation_time: frame.simulation_time,
        ...explanation,
        balances: explanation.balances.slice(0, defaultPoints),
        contacts: explanation.contacts?.slice(0, defaultPoints) ?? null,
        findings: present.map((finding) => toFindingRow(finding, diagnosis.names)),
        ...(details && { system_energy: frame.system_energy, solver: frame.solver, ...coverage }),
        summary: summarizeExplanation(frame, explanation, {
          names: { ...names, ...diagnosis.names },
          laws: describeLaws(present, { coverage, names: diagnosis.names }),
        }),
      }
    },
  }),
]

function describeLaws(
  [finding]: readonly RankedFinding[],
  { coverage: { checked, not_checked }, names }: Pick<Diagnosis, 'coverage' | 'names'>,
): string {
  if (finding !== undefined) return toSentence(describeFinding(finding, names))
  const missedCount = not_checked.filter(({ law }) => !checked.includes(law)).length
  const missedText = missedCount === 0 ? '' : ` ${formatCount(missedCount, 'law')} could not be checked.`
  return checked.length === 0
    ? 'No law could be checked.'
    : `No fault found here by the ${formatCount(checked.length, 'law')} that could be checked.${missedText}`
}

function summarizeExplanation(
  { frame_id, simulation_time }: Frame,
  { balances, contacts, changes }: FrameExplanation,
  { names, laws }: { readonly names: BodyNames; readonly laws: string },
): string {
  const touching =
    contacts === null ? 'contacts not recorded' : `${formatCount(contacts.length, 'pair')} in contact`
  const [worst] = balances.toSorted((a, b) => (b.unexplained_n ?? 0) - (a.unexplained_n ?? 0))
  const sentences = [
    `Frame ${frame_id} (${formatQuantity(simulation_time, 's')}): ${formatCount(balances.length, 'body', 'bodies')}, ${touching}.`,
    ...changes.slice(0, 3).map((change) => toSentence(change)),
  ]
  if (worst?.unexplained_n)
    sentences.push(
      `Largest unexplained force: ${formatQuantity(worst.unexplained_n, 'N')} on ${nameBodies([worst.body_id], names)}.`,
    )
  sentences.push(laws)
  return sentences.join(' ')
}

export function getFrameAnswer(
  recording: Recording,
  frame: Frame,
  stamp: AnswerStamp,
  { limit = defaultPoints, details = false } = {},
) {
  const view = viewFrame(frame, limit, details)
  const summary = summarizeFrame(frame, hasContacts(recording.summary), view.truncated)
  return { ...stamp, ...view, unit: recording.summary.lambda_unit, summary }
}
