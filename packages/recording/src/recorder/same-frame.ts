/** Telling a frame that is sent again from another one. */
import {
  bodyAt,
  bodyWidth,
  hasOwnEnergy,
  hasState,
  type PackedFrame,
  toBytes,
  toNumbers,
  unpackContacts,
} from './packed-frame.ts'

/** What is stored of a frame. */
export interface StoredFrame {
  /** s; NaN where it is not known */
  readonly time: number
  readonly bodies: Buffer
  readonly contacts: Buffer | null
}

/**
 * True where a frame that is sent says what is stored. Only what was sent counts: energies that were computed follow from
 * the run lines there were by then, and so does whether a body is one of the environment (`isStill`), whose rows are none.
 */
export function isSameFrame(
  stored: StoredFrame,
  sent: PackedFrame,
  isStill: (body: number) => boolean,
): boolean {
  return (
    Object.is(stored.time, sent.time) &&
    hasSameBodies(stored.bodies, sent.bodies, isStill) &&
    hasSameContacts(stored.contacts, sent.contacts, isStill)
  )
}

function hasSameBodies(bytes: Buffer, sent: Float64Array, isStill: (body: number) => boolean): boolean {
  if (bytes.equals(toBytes(sent))) return true
  const stored = toNumbers(bytes)
  let to = 0
  for (let at = 0; at < stored.length; at += bodyWidth) {
    if (isStill(stored[at + bodyAt.id] ?? 0)) continue
    if (to === sent.length || !isSameBody(stored, at, sent, to)) return false
    to += bodyWidth
  }
  return to === sent.length
}

function isSameBody(stored: Float64Array, from: number, sent: Float64Array, to: number): boolean {
  const [before, now] = [stored[from + bodyAt.parts] ?? 0, sent[to + bodyAt.parts] ?? 0]
  if ((before & hasState) !== (now & hasState)) return false
  const width = (now & hasOwnEnergy) !== 0 ? bodyWidth : bodyAt.energy
  for (let k = 0; k < width; k++)
    if (k !== bodyAt.parts && !Object.is(stored[from + k], sent[to + k])) return false
  return true
}

function hasSameContacts(
  bytes: Buffer | null,
  sent: Float64Array | null,
  isStill: (body: number) => boolean,
): boolean {
  if (sent === null ? bytes === null : bytes?.equals(toBytes(sent)) === true) return true
  const [before, now] = [unpackContacts(bytes && toNumbers(bytes)), unpackContacts(sent)]
  return (
    (['collisions', 'points', 'constraints', 'friction'] as const).every((list) =>
      isSameList(before[list], now[list]),
    ) && isSameList(moved(before.externals, isStill), moved(now.externals, isStill))
  )
}

const isSameList = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((value, i) => Object.is(value, b[i]))

/** The forces on bodies that are not of the environment. */
function moved(externals: Float64Array, isStill: (body: number) => boolean): Float64Array {
  const width = 10
  return externals.filter((_, i) => !isStill(externals[i - (i % width)] ?? 0))
}
