import type { BodyId, FrameRange, PairFrame, Value, Vector } from '@causeway/recording'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import { formatCount, formatList } from '../sentence.ts'
import { dot, negate } from '../vector.ts'

/** Maximum rotation of a normal per frame: 30 degrees in rad. */
export const maxNormalTurn = Math.PI / 6

export interface PairContact {
  readonly frame_id: number
  readonly friction_rows: number
  readonly points: number
  /** Unit vector from the first requested body to the second. */
  readonly normal: Vector | null
}

export function toPairContact(frame: PairFrame, first: BodyId): PairContact {
  const row = frame.collision ?? frame.friction_constraints[0]
  const normal = row === undefined ? null : row.body_a_id === first ? row.normal : negate(row.normal)
  return {
    frame_id: frame.frame_id,
    friction_rows: frame.friction_constraints.length,
    points: frame.collision?.contacts.length ?? 0,
    normal,
  }
}

/** Frames with friction rows, or colliding frames if the pair never has friction rows. */
interface ContactFrames {
  readonly source: 'friction' | 'collisions'
  readonly frames: readonly PairContact[]
  readonly without_rows: number
}

export function selectContactFrames(contacts: readonly PairContact[]): ContactFrames {
  const withFriction = contacts.filter(({ friction_rows }) => friction_rows > 0)
  if (withFriction.length === 0)
    return { source: contacts.length > 0 ? 'collisions' : 'friction', frames: contacts, without_rows: 0 }
  return { source: 'friction', frames: withFriction, without_rows: contacts.length - withFriction.length }
}

export const countContactPoints = ({ friction_rows, points }: PairContact): number =>
  friction_rows > 0 ? friction_rows : points

export interface Run {
  readonly first_frame: number
  readonly last_frame: number
}

export interface ContactEvolution {
  readonly runs: readonly Run[]
  /** Begins and ends of runs within the range. An end is the first frame without contact. */
  readonly transitions: readonly { readonly frame_id: number; readonly change: 'begin' | 'end' }[]
  /** Whether any `chatterWindow` consecutive frames have at least `chatterTransitions` transitions. */
  readonly chatter: boolean
  readonly peak_transitions: number
  /** Frames whose normal turned by more than 90 degrees. */
  readonly normal_flips: readonly number[]
  /** Frames whose normal turned by 30 to 90 degrees. */
  readonly normal_jumps: readonly number[]
  readonly point_count_changes: number
}

/** Window in frames. Unlike the law `contact_duration`, `chatter` counts bounces. */
const chatterWindow = 30
const chatterTransitions = 4

const minNormalCosine = Math.cos(maxNormalTurn)

/** `frames` must be ascending. */
export function analyzeEvolution(frames: readonly PairContact[], range: FrameRange): ContactEvolution {
  const runs: { first_frame: number; last_frame: number }[] = []
  const normal_flips: number[] = []
  const normal_jumps: number[] = []
  let point_count_changes = 0
  for (const [index, touch] of frames.entries()) {
    const before = frames[index - 1]
    const run = runs.at(-1)
    if (before === undefined || run === undefined || touch.frame_id !== before.frame_id + 1) {
      runs.push({ first_frame: touch.frame_id, last_frame: touch.frame_id })
      continue
    }
    run.last_frame = touch.frame_id
    if (countContactPoints(touch) !== countContactPoints(before)) point_count_changes += 1
    const cosine = getTurnCosine(before.normal, touch.normal)
    if (cosine !== null && cosine < 0) normal_flips.push(touch.frame_id)
    else if (cosine !== null && cosine < minNormalCosine) normal_jumps.push(touch.frame_id)
  }
  const transitions = listTransitions(runs, range)
  const peak_transitions = countMaxTransitions(transitions.map(({ frame_id }) => frame_id))
  return {
    runs,
    transitions,
    chatter: peak_transitions >= chatterTransitions,
    peak_transitions,
    normal_flips,
    normal_jumps,
    point_count_changes,
  }
}

const getTurnCosine = (before: Vector | null, after: Vector | null): Value =>
  before === null || after === null ? null : dot(before, after)

/** Omits changes at the bounds of the range, beyond which runs may continue. */
function listTransitions(runs: readonly Run[], { start, end }: FrameRange) {
  return runs.flatMap(({ first_frame, last_frame }) => [
    ...(start === null || first_frame > start ? [{ frame_id: first_frame, change: 'begin' as const }] : []),
    ...(end === null || last_frame < end ? [{ frame_id: last_frame + 1, change: 'end' as const }] : []),
  ])
}

function countMaxTransitions(frames: readonly number[]): number {
  let maxCount = 0
  let from = 0
  for (const [index, frame] of frames.entries()) {
    while ((frames[from] ?? frame) <= frame - chatterWindow) from += 1
    maxCount = Math.max(maxCount, index - from + 1)
  }
  return maxCount
}

export function summarizeHistory(
  bodies: readonly BodyId[],
  { source, frames, without_rows }: ContactFrames,
  {
    evolution,
    page,
    names,
  }: {
    evolution: ContactEvolution
    page: { frames: readonly PairContact[]; omitsRows: boolean }
    names: BodyNames
  },
): string {
  const pair = nameBodies(bodies, names)
  if (frames.length === 0) return `No contact between ${pair} in this range.`
  const sentences = [
    `Found contacts in ${formatCount(frames.length, 'frame')} between ${pair}, in ${formatCount(evolution.runs.length, 'run')} (first ${frames[0]?.frame_id}, last ${frames.at(-1)?.frame_id}).`,
  ]
  if (source === 'collisions')
    sentences.push('The pair has no friction rows: contacts are counted by its collision rows.')
  if (without_rows > 0)
    sentences.push(`It collides without friction rows in ${formatCount(without_rows, 'more frame')}.`)
  if (evolution.chatter)
    sentences.push(`Chatter: ${evolution.peak_transitions} begins and ends within ${chatterWindow} frames.`)
  if (evolution.normal_flips.length > 0)
    sentences.push(
      `The normal flips in ${formatCount(evolution.normal_flips.length, 'frame')} (${formatList(evolution.normal_flips)}).`,
    )
  if (evolution.normal_jumps.length > 0)
    sentences.push(
      `It turns by more than 30 degrees in ${formatCount(evolution.normal_jumps.length, 'frame')} (${formatList(evolution.normal_jumps)}).`,
    )
  if (page.frames.length < frames.length)
    sentences.push(`${formatCount(page.frames.length, 'frame')} listed; next_cursor leads to the others.`)
  if (page.omitsRows)
    sentences.push('Frames are listed without their rows: pass a smaller max_points to get them.')
  return sentences.join(' ')
}
