/** Position jumps of tracks, as an answer. */

import { formatTime } from '@causeway/app-kit/time'
import { composite, type DebriefCommand, showData, showText, updateFeatures } from './command.ts'
import { counted } from './counted.ts'
import { idOf } from './feature.ts'
import type { Jump } from './position-jump.ts'
import { rounded, table } from './table.ts'
import { type TimedTrack, unusable } from './track.ts'
import { withVertices } from './vertex-list.ts'

/** What was found in a track. */
export interface TrackJumps {
  readonly track: TimedTrack
  readonly jumps: readonly Jump[]
}

/** The jumps, and with `remove` the tracks without them. */
export function jumpAnswer(
  found: readonly TrackJumps[],
  { min_offset_m, remove }: { readonly min_offset_m: number; readonly remove: boolean },
): DebriefCommand {
  const rows = found.flatMap(({ track, jumps }) => jumps.map((jump) => ({ track, jump })))
  const [first] = rows
  if (first === undefined)
    return showText(
      `No position jumps of ${min_offset_m} m or more in ${found.map(({ track }) => track.name).join(', ')}.`,
    )
  const { track, jump } = first
  const done = remove ? ' They were taken out.' : ''
  const figures = showData({
    title: 'Position jumps',
    summary: `${counted(rows.length, 'position jump')}. ${track.name}: ${counted(jump.last - jump.first + 1, 'fix')} from ${formatTime(jump.start_ms)}, ${jump.offset_m.toFixed(0)} m off.${done}`,
    jumps: rows.map((row) => ({
      track: row.track.id,
      first_vertex: row.jump.first,
      last_vertex: row.jump.last,
      start: formatTime(row.jump.start_ms),
      end: formatTime(row.jump.end_ms),
      offset_m: row.jump.offset_m,
    })),
    ...table(
      rows,
      { name: 'jump', key: (row) => `${row.track.name} ${formatTime(row.jump.start_ms)}` },
      {
        first_vertex: (row) => row.jump.first,
        fixes: (row) => row.jump.last - row.jump.first + 1,
        offset_m: (row) => rounded(row.jump.offset_m, 1),
      },
    ),
  })
  if (!remove) return figures
  return composite([updateFeatures(found.filter(({ jumps }) => jumps.length > 0).map(withoutJumps)), figures])
}

function withoutJumps({ track, jumps }: TrackJumps) {
  if (idOf(track.feature) === null) throw unusable(track.feature, 'has no id by which it could be replaced')
  const gone = new Set(
    jumps.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first + index)),
  )
  const kept = track.fixes.map((_, index) => index).filter((index) => !gone.has(index))
  return withVertices(track.feature, kept)
}
