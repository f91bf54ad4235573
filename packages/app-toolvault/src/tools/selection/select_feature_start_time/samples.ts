import { setTimeState } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const track = {
  type: 'Feature',
  id: 'track',
  geometry: {
    type: 'LineString',
    coordinates: [
      [0, 51],
      [0.1, 51],
    ],
  },
  properties: { dataType: 'track', timestamps: ['2024-01-01T09:15:00Z', '2024-01-01T09:16:00Z'] },
}

/** The range begins with the track where it began later. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'before-the-range',
    input: {
      features: [track],
      current_time_state: {
        current: '2025-09-03T12:00:00Z',
        start: '2025-09-03T08:00:00Z',
        end: '2025-09-03T14:00:00Z',
      },
    },
    expectedOutput: setTimeState({
      current: '2024-01-01T09:15:00Z',
      start: '2024-01-01T09:15:00Z',
      end: '2025-09-03T14:00:00Z',
    }),
  },
]
