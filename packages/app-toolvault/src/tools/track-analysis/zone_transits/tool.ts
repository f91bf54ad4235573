import { z } from 'zod'
import { features, featuresArgument, selectedTracks, timedTracks } from '../../../arguments.ts'
import { transitAnswer, transitsOf } from '../../../domain/transit-answer.ts'
import { readZone } from '../../../domain/zone-transit.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** zone_transits: times between fixes, and passages without a fix inside. */
export default vaultTool({
  name: 'zone_transits',
  category: 'track-analysis',
  about:
    'When tracks entered and left areas (polygons): times and places between fixes, and how long they stayed.',
  input: {
    tracks: featuresArgument('tracks'),
    zones: featuresArgument('polygons'),
    min_duration_s: z.number().min(0).default(0).describe('shorter stays are left out'),
  },
  inject: {
    tracks: selectedTracks(),
    zones: { from: 'selection', kinds: ['annotation', 'zone'], min: 1, max: null },
  },
  samples,
  *run({ tracks, zones, min_duration_s }) {
    const [all, areas] = [timedTracks(tracks), features(zones, 'zones').map(readZone)]
    const found = yield* transitsOf(all, areas)
    return transitAnswer(
      { tracks: all, zones: areas },
      found.filter(({ stay }) => stay.exit_ms - stay.enter_ms >= min_duration_s * 1000),
    )
  },
})
