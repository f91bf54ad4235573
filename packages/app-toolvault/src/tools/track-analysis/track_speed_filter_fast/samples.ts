import { showText } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const track = {
  type: 'Feature',
  id: 'slow',
  geometry: {
    type: 'LineString',
    coordinates: [
      [0, 51],
      [0.1, 51],
      [0.2, 51],
    ],
  },
  properties: {
    dataType: 'track',
    name: 'Slow',
    timestamps: ['2024-01-01T14:00:00Z', '2024-01-01T14:01:00Z', '2024-01-01T14:02:00Z'],
    speeds: [3.2, 7.8, 5.1],
  },
}

/** All recorded speeds are below ten knots. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'slow-track',
    input: { track_feature: track, min_speed: 10 },
    expectedOutput: showText('No fixes of Slow at or above 10 knots (speeds: recorded speeds).'),
  },
]
