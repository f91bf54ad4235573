import {
  bodyAt,
  bodyWidth,
  hasOwnEnergy,
  hasState,
  type PackedFrame,
  toBytes,
  toNumbers,
  unpackContacts,
} from '../formats/packed-frame.ts'

interface StoredFrame {
  /** In s; NaN = not recorded. */
  readonly time: number
  readonly bodies: Buffer
  readonly contacts: Buffer | null
  readonly joints: Buffer | null
}

/**
 * Whether a sent frame is the same as the stored one. Compares only sent values: computed energies, and whether a
 * body is an environment body (which has no state), depend on the preceding run lines.
 */
export function isSameFrame(
  stored: StoredFrame,
  sent: PackedFrame,
  isEnvironmentBody: (body: number) => boolean,
): boolean {
  return (
    Object.is(stored.time, sent.time) &&
    hasSameBodies(stored.bodies, sent.bodies, isEnvironmentBody) &&
    hasSameContacts(stored.contacts, sent.contacts, isEnvironmentBody) &&
    (stored.joints === null || sent.joints === null
      ? stored.joints === sent.joints
      : stored.joints.equals(toBytes(sent.joints)))
  )
}

function hasSameBodies(
  bytes: Buffer,
  sent: Float64Array,
  isEnvironmentBody: (body: number) => boolean,
): boolean {
  if (bytes.equals(toBytes(sent))) return true
  const stored = toNumbers(bytes)
  let to = 0
  for (let at = 0; at < stored.length; at += bodyWidth) {
    if (isEnvironmentBody(stored[at + bodyAt.id] ?? 0)) continue
    if (to === sent.length || !isSameBody(stored, at, sent, to)) return false
    to += bodyWidth
  }
  return to === sent.length
}

function isSameBody(stored: Float64Array, from: number, sent: Float64Array, to: number): boolean {
  const [storedParts, sentParts] = [stored[from + bodyAt.parts] ?? 0, sent[to + bodyAt.parts] ?? 0]
  if ((storedParts & hasState) !== (sentParts & hasState)) return false
  const width = (sentParts & hasOwnEnergy) !== 0 ? bodyWidth : bodyAt.energy
  for (let k = 0; k < width; k++)
    if (k !== bodyAt.parts && !Object.is(stored[from + k], sent[to + k])) return false
  return true
}

function hasSameContacts(
  bytes: Buffer | null,
  sent: Float64Array | null,
  isEnvironmentBody: (body: number) => boolean,
): boolean {
  if (sent === null ? bytes === null : bytes?.equals(toBytes(sent)) === true) return true
  const [storedLists, sentLists] = [unpackContacts(bytes && toNumbers(bytes)), unpackContacts(sent)]
  return (
    (['collisions', 'points', 'constraints', 'friction'] as const).every((list) =>
      isSameList(storedLists[list], sentLists[list]),
    ) &&
    isSameList(
      selectDynamic(storedLists.externals, isEnvironmentBody),
      selectDynamic(sentLists.externals, isEnvironmentBody),
    )
  )
}

const isSameList = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((value, i) => Object.is(value, b[i]))

function selectDynamic(externals: Float64Array, isEnvironmentBody: (body: number) => boolean): Float64Array {
  const width = 10
  return externals.filter((_, i) => !isEnvironmentBody(externals[i - (i % width)] ?? 0))
}
