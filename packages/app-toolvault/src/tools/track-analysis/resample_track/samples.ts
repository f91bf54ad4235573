import type { Sample } from '../../../vault-tool.ts'

/** A fix between each two. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'half-minutes',
    input: {
      tracks: [
        {
          type: 'Feature',
          id: 'b',
          geometry: {
            type: 'LineString',
            coordinates: [
              [-4.99, 35.99],
              [-4.99, 36],
              [-4.99, 36.01],
            ],
          },
          properties: {
            dataType: 'track',
            name: 'B',
            timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z'],
          },
        },
      ],
      interval_s: 30,
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'updateFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'b',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [-4.99, 35.99],
                  [-4.99, 35.99500000208821],
                  [-4.99, 36],
                  [-4.99, 36.00500000208845],
                  [-4.99, 36.01],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'B',
                timestamps: [
                  '2024-01-01T00:00:00Z',
                  '2024-01-01T00:00:30Z',
                  '2024-01-01T00:01:00Z',
                  '2024-01-01T00:01:30Z',
                  '2024-01-01T00:02:00Z',
                ],
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Resampled tracks',
            summary: '1 track with a fix every 30 s, 5 in all; 0 gaps left open.',
            interval_s: 30,
            shape: [1, 3],
            axes: [
              { name: 'track', values: ['B'] },
              { name: 'quantity', values: ['fixes_before', 'fixes_after', 'gaps'] },
            ],
            values: [3, 5, 0],
          },
        },
      ],
    },
  },
]
