import type { BodyId, Collision, FrictionConstraint, PairFrame, Value } from '@causeway/recording'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import { paginate } from '../cursor.ts'
import { formatCount } from '../sentence.ts'
import { type ContactEvolution, countContactPoints, type PairContact } from './contact-history.ts'

/** Maximum number of rows in an answer, about 60 kB. */
const maxRows = 160

interface HistoryPage {
  readonly frames: readonly PairContact[]
  readonly next_cursor: string | null
  readonly omitsRows: boolean
}

export function paginateHistory(
  frames: readonly PairContact[],
  part: { cursor: string | undefined; limit: number },
): HistoryPage {
  const { items, next_cursor } = paginate(frames, ({ frame_id }) => frame_id, part)
  const rows = items.reduce((sum, { friction_rows }) => sum + friction_rows, 0)
  return { frames: items, next_cursor, omitsRows: rows > maxRows }
}

/** A listed frame. Lambdas have the recorded unit; depths are in m. */
export interface HistoryEntry {
  readonly frame_id: number
  readonly simulation_time: Value
  readonly num_contacts: number
  readonly penetration_depth: Value
  /** Sum over the contact points; `null` if not recorded. */
  readonly normal_lambda: Value
  readonly contacts: readonly FrictionConstraint[]
}

export function toHistoryEntries(
  { frames, omitsRows }: HistoryPage,
  recorded: readonly PairFrame[],
): HistoryEntry[] {
  const byFrame = new Map(frames.map((touch) => [touch.frame_id, touch]))
  return recorded.flatMap(({ frame_id, simulation_time, collision, friction_constraints }) => {
    const touch = byFrame.get(frame_id)
    if (touch === undefined) return []
    return [
      {
        frame_id,
        simulation_time,
        num_contacts: countContactPoints(touch),
        penetration_depth: collision?.penetration_depth ?? null,
        normal_lambda: sum(friction_constraints.map((row) => row.normal_lambda)),
        contacts: omitsRows ? [] : friction_constraints,
      },
    ]
  })
}

/** Truncates the lists to `limit`, and adds their full lengths. */
export function truncateEvolution(evolution: ContactEvolution, limit: number) {
  const { runs, transitions, normal_flips, normal_jumps } = evolution
  return {
    ...evolution,
    runs: runs.slice(0, limit),
    run_count: runs.length,
    transitions: transitions.slice(0, limit),
    transition_count: transitions.length,
    normal_flips: normal_flips.slice(0, limit),
    normal_flip_count: normal_flips.length,
    normal_jumps: normal_jumps.slice(0, limit),
    normal_jump_count: normal_jumps.length,
  }
}

function sum(values: readonly Value[]): Value {
  const knownValues = values.filter((value) => value !== null)
  return knownValues.length === 0 ? null : knownValues.reduce((total, value) => total + value, 0)
}

export function summarizeBodyContacts(
  body: BodyId,
  {
    constraints,
    collisions,
    names,
  }: {
    readonly constraints: number
    readonly collisions: readonly Collision[]
    readonly names: BodyNames
  },
): string {
  const partners = collisions.map((row) => (row.body_a_id === body ? row.body_b_id : row.body_a_id))
  const collisionText = collisions.length === 0 ? '' : ` It collides with ${nameBodies(partners, names)}.`
  const contactText = `Found ${formatCount(constraints, 'contact')} of ${nameBodies([body], names)}.${collisionText}`
  if (constraints > 0 || collisions.length === 0) return contactText
  const points = collisions.reduce((sum, { contacts }) => sum + contacts.length, 0)
  return `${contactText} No friction rows in this frame; the collisions have ${formatCount(points, 'contact point')}.`
}
