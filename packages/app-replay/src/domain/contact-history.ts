/** How the contact of one pair evolves: runs, transitions, chatter, flips of the normal. */
import type { BodyId, FrameRange, PairFrame, Value, Vector } from '@causeway/recording'
import { count, pairName, several } from './sentence.ts'
import { turnLimit } from './turn-limit.ts'
import { dot, opposite } from './vector.ts'

/** What one frame says of the pair, without its rows. */
export interface Touch {
  readonly frame_id: number
  /** friction constraints of the pair */
  readonly friction_rows: number
  /** points of the collision manifold */
  readonly points: number
  /** unit, from the first body asked for to the second, whatever the order in the file; null where absent */
  readonly normal: Vector | null
}

/** One frame of a pair's history, its rows counted. */
export function touchOf(frame: PairFrame, first: BodyId): Touch {
  const row = frame.collision ?? frame.friction_constraints[0]
  const normal = row === undefined ? null : row.body_a_id === first ? row.normal : opposite(row.normal)
  return {
    frame_id: frame.frame_id,
    friction_rows: frame.friction_constraints.length,
    points: frame.collision?.contacts.length ?? 0,
    normal,
  }
}

/** The frames that count as contact: those with friction rows, or the colliding ones where the pair has none at all. */
export interface ContactFrames {
  readonly source: 'friction' | 'collisions'
  readonly frames: readonly Touch[]
  /** frames in which the pair collides without the rows that count */
  readonly without_rows: number
}

/** Chooses the frames of contact. */
export function contactFrames(touches: readonly Touch[]): ContactFrames {
  const withFriction = touches.filter(({ friction_rows }) => friction_rows > 0)
  if (withFriction.length === 0)
    return { source: touches.length > 0 ? 'collisions' : 'friction', frames: touches, without_rows: 0 }
  return { source: 'friction', frames: withFriction, without_rows: touches.length - withFriction.length }
}

/** Contact points of a frame, by the rows that count. */
export const contactPoints = ({ friction_rows, points }: Touch): number =>
  friction_rows > 0 ? friction_rows : points

/** Contact without a gap, both ends included. */
export interface Run {
  readonly first_frame: number
  readonly last_frame: number
}

/** What the history shows. */
export interface Evolution {
  readonly runs: readonly Run[]
  /** frames in which contact begins or ends within the range */
  readonly transitions: readonly { readonly frame_id: number; readonly change: 'begin' | 'end' }[]
  /** at least `chatterTransitions` transitions within `chatterWindow` frames, whatever made them */
  readonly chatter: boolean
  /** most transitions in any window */
  readonly peak_transitions: number
  /** frames whose normal points against that of the frame before */
  readonly normal_flips: readonly number[]
  /** frames whose normal turned by more than 30 degrees, flips left out */
  readonly normal_jumps: readonly number[]
  /** frames with another number of contact points than the frame before */
  readonly point_count_changes: number
}

/**
 * Window of the chatter test, frames, and the transitions in it from which on contact chatters. This counts every begin and
 * end, a bounce too: it describes the contact. The law of chatter (`laws/chatter-law.ts`) judges it, and counts only short
 * losses of a pair that does not part.
 */
const chatterWindow = 30
const chatterTransitions = 4

const cosOfLimit = Math.cos(turnLimit)

/** Reads the evolution from the frames of contact, which are ascending; `range` is what was asked for. */
export function evolution(frames: readonly Touch[], range: FrameRange): Evolution {
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
    if (contactPoints(touch) !== contactPoints(before)) point_count_changes += 1
    const turned = turn(before.normal, touch.normal)
    if (turned !== null && turned < 0) normal_flips.push(touch.frame_id)
    else if (turned !== null && turned < cosOfLimit) normal_jumps.push(touch.frame_id)
  }
  const transitions = transitionsOf(runs, range)
  const peak_transitions = densest(transitions.map(({ frame_id }) => frame_id))
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

const turn = (before: Vector | null, after: Vector | null): Value =>
  before === null || after === null ? null : dot(before, after)

/** Begins and ends; a run that reaches the edge of the range may go on beyond it. */
function transitionsOf(runs: readonly Run[], { start, end }: FrameRange) {
  return runs.flatMap(({ first_frame, last_frame }) => [
    ...(start === null || first_frame > start ? [{ frame_id: first_frame, change: 'begin' as const }] : []),
    ...(end === null || last_frame < end ? [{ frame_id: last_frame + 1, change: 'end' as const }] : []),
  ])
}

/** Most of these ascending frames in any window. */
function densest(frames: readonly number[]): number {
  let most = 0
  let from = 0
  for (const [index, frame] of frames.entries()) {
    while ((frames[from] ?? frame) <= frame - chatterWindow) from += 1
    most = Math.max(most, index - from + 1)
  }
  return most
}

/** The history in words. */
export function historySummary(
  [a, b]: readonly [BodyId, BodyId],
  { source, frames, without_rows }: ContactFrames,
  { seen, part }: { seen: Evolution; part: { frames: readonly Touch[]; leavesRowsOut: boolean } },
): string {
  if (frames.length === 0) return `No contact between ${pairName(a, b)} in this range.`
  const sentences = [
    `Found contacts in ${count(frames.length, 'frame')} between ${pairName(a, b)}, in ${count(seen.runs.length, 'run')} (first ${frames[0]?.frame_id}, last ${frames.at(-1)?.frame_id}).`,
  ]
  if (source === 'collisions')
    sentences.push('The pair has no friction rows: contacts counted by its collision rows.')
  if (without_rows > 0)
    sentences.push(`It collides without friction rows in ${count(without_rows, 'more frame')}.`)
  if (seen.chatter)
    sentences.push(`Chatter: ${seen.peak_transitions} begins and ends within ${chatterWindow} frames.`)
  if (seen.normal_flips.length > 0)
    sentences.push(
      `The normal flips in ${count(seen.normal_flips.length, 'frame')} (${several(seen.normal_flips)}).`,
    )
  if (seen.normal_jumps.length > 0)
    sentences.push(
      `It turns by more than 30 degrees in ${count(seen.normal_jumps.length, 'frame')} (${several(seen.normal_jumps)}).`,
    )
  if (part.frames.length < frames.length)
    sentences.push(`${count(part.frames.length, 'frame')} listed; next_cursor leads to the rest.`)
  if (part.leavesRowsOut) sentences.push('Frames are listed without their rows: ask for fewer by max_points.')
  return sentences.join(' ')
}
