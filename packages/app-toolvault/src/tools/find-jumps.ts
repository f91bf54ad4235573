import { formatTime } from '@causeway/app-kit/time'
import {
  createComposite,
  type DebriefCommand,
  type Feature,
  formatCount,
  getFeatureId,
  retainVertices,
  showData,
  showText,
  updateFeatures,
} from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createFeatureError } from '../domain/feature/read-features.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { findJumps, type Jump } from '../domain/track/position-jump.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { createFeaturesArgument, injectSelectedTracks, requireTracks } from './arguments.ts'

export default defineTool({
  name: 'find_jumps',
  category: 'track-analysis',
  title: 'Find position jumps',
  about:
    'Find position jumps: up to five consecutive bad fixes that the vessel could not reach from the rest of the track. Returns their times and offsets; gaps and ambiguous fixes are not reported. Use it to check a track before measuring it; remove also returns the tracks without the jumps.',
  searchHint: 'GPS glitches, spikes, outliers',
  input: {
    tracks: createFeaturesArgument('Tracks'),
    min_offset_m: z.number().positive().default(100).describe('Metres; smaller offsets are noise'),
    remove: z.boolean().default(false).describe('Also return the tracks without the jumps'),
  },
  inject: { tracks: injectSelectedTracks() },
  *run({ tracks, min_offset_m, remove }) {
    const parsedTracks = requireTracks(tracks)
    const total = parsedTracks.reduce((sum, { fixes }) => sum + fixes.length, 0)
    let finishedFixes = 0
    const trackJumps: TrackJumps[] = []
    for (const track of parsedTracks) {
      const iterator = findJumps(track, min_offset_m)
      let result = iterator.next()
      for (; !result.done; result = iterator.next())
        if (result.value % 64 === 0) yield { done: finishedFixes + result.value, total }
      finishedFixes += track.fixes.length
      trackJumps.push({ track, jumps: result.value })
    }
    return createReport(trackJumps, { min_offset_m, remove })
  },
})

interface TrackJumps {
  readonly track: TimedTrack
  readonly jumps: readonly Jump[]
}

function createReport(
  trackJumps: readonly TrackJumps[],
  { min_offset_m, remove }: { readonly min_offset_m: number; readonly remove: boolean },
): DebriefCommand {
  const rows = trackJumps.flatMap(({ track, jumps }) => jumps.map((jump) => ({ track, jump })))
  const [first] = rows
  if (first === undefined)
    return showText(
      `No position jumps of ${min_offset_m} m or more in ${trackJumps.map(({ track }) => track.name).join(', ')}.`,
    )
  const { track, jump } = first
  const removalText = remove ? ' They were removed.' : ''
  const figures = showData({
    title: 'Position jumps',
    summary: `${formatCount(rows.length, 'position jump')}. ${track.name}: ${formatCount(jump.last - jump.first + 1, 'fix')} from ${formatTime(jump.start_ms)}, ${jump.offset_m.toFixed(0)} m off.${removalText}`,
    jumps: rows.map((row) => ({
      track: row.track.id,
      first_vertex: row.jump.first,
      last_vertex: row.jump.last,
      start: formatTime(row.jump.start_ms),
      end: formatTime(row.jump.end_ms),
      offset_m: row.jump.offset_m,
    })),
    ...createTable(
      rows,
      { name: 'jump', key: (row) => `${row.track.name} ${formatTime(row.jump.start_ms)}` },
      {
        first_vertex: (row) => row.jump.first,
        fixes: (row) => row.jump.last - row.jump.first + 1,
        offset_m: (row) => roundTo(row.jump.offset_m, 1),
      },
    ),
  })
  if (!remove) return figures
  return createComposite([
    updateFeatures(trackJumps.filter(({ jumps }) => jumps.length > 0).map(removeJumps)),
    figures,
  ])
}

function removeJumps({ track, jumps }: TrackJumps): Feature {
  if (getFeatureId(track.feature) === null)
    throw createFeatureError(track.feature, 'has no id, which is required to replace it')
  const removedIndices = new Set(
    jumps.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first + index)),
  )
  const retainedIndices = track.fixes.map((_, index) => index).filter((index) => !removedIndices.has(index))
  return retainVertices(track.feature, retainedIndices)
}
