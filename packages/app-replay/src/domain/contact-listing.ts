/** The listed frames of a contact history: one page, with the rows of each frame while they are few. */
import type { FrictionConstraint, PairFrame, Value } from '@causeway/recording'
import { contactPoints, type Evolution, type Touch } from './contact-history.ts'
import { page } from './cursor.ts'

/** Most friction rows in one answer, about 60 kB: 40 frames of a four-point contact. Above it, rows are left out. */
const mostRows = 160

/** The frames to list. */
export interface HistoryPage {
  readonly frames: readonly Touch[]
  readonly next_cursor: string | null
  /** true where the frames are listed without their rows */
  readonly leavesRowsOut: boolean
}

/** Chooses the frames to list; throws `INVALID_CURSOR`. */
export function historyPage(
  frames: readonly Touch[],
  part: { cursor: string | undefined; limit: number },
): HistoryPage {
  const { items, next_cursor } = page(frames, ({ frame_id }) => frame_id, part)
  const rows = items.reduce((sum, { friction_rows }) => sum + friction_rows, 0)
  return { frames: items, next_cursor, leavesRowsOut: rows > mostRows }
}

/** One listed frame; lambdas as recorded, depth in m. */
export interface HistoryEntry {
  readonly frame_id: number
  readonly simulation_time: Value
  /** contact points */
  readonly num_contacts: number
  readonly penetration_depth: Value
  /** sum over the contact points; null where none was recorded */
  readonly normal_lambda: Value
  /** friction constraints; empty where `leavesRowsOut` */
  readonly contacts: readonly FrictionConstraint[]
}

/** The listed frames, from the recorded frames of the pair. */
export function historyEntries(
  { frames, leavesRowsOut }: HistoryPage,
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
        num_contacts: contactPoints(touch),
        penetration_depth: collision?.penetration_depth ?? null,
        normal_lambda: sum(friction_constraints.map((row) => row.normal_lambda)),
        contacts: leavesRowsOut ? [] : friction_constraints,
      },
    ]
  })
}

/** The evolution with at most `limit` rows in each of its lists, and their exact lengths. */
export function cutEvolution(seen: Evolution, limit: number) {
  const { runs, transitions, normal_flips, normal_jumps } = seen
  return {
    ...seen,
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
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
}
