import { showText } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const track = {
  type: 'Feature',
  id: 'slow',
  geometry: {
    type: 'LineString',
    coordinates: [
      [0, 51.5],
      [0.001, 51.501],
      [0.002, 51.502],
    ],
  },
  properties: {
    dataType: 'track',
    name: 'Slow',
    timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z'],
  },
}

/** About 4.2 knots. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'slow-track',
    input: { track_feature: track, min_speed: 5 },
    expectedOutput: showText(
      'No fixes of Slow at or above 5 knots (speeds: derived from positions and times).',
    ),
  },
]
