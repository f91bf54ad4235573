import type { Sample } from '../../../vault-tool.ts'

/** The third fix is eleven kilometres off. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'one-jump',
    input: {
      tracks: [
        {
          type: 'Feature',
          id: 'jumpy',
          geometry: {
            type: 'LineString',
            coordinates: [
              [0, 50],
              [0.005, 50],
              [0.01, 50.1],
              [0.015, 50],
              [0.02, 50],
              [0.025, 50],
            ],
          },
          properties: {
            dataType: 'track',
            name: 'JUMPY',
            timestamps: [
              '2024-01-01T00:00:00Z',
              '2024-01-01T00:01:00Z',
              '2024-01-01T00:02:00Z',
              '2024-01-01T00:03:00Z',
              '2024-01-01T00:04:00Z',
              '2024-01-01T00:05:00Z',
            ],
          },
        },
      ],
      remove: true,
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'updateFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'jumpy',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [0, 50],
                  [0.005, 50],
                  [0.015, 50],
                  [0.02, 50],
                  [0.025, 50],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'JUMPY',
                timestamps: [
                  '2024-01-01T00:00:00Z',
                  '2024-01-01T00:01:00Z',
                  '2024-01-01T00:03:00Z',
                  '2024-01-01T00:04:00Z',
                  '2024-01-01T00:05:00Z',
                ],
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Position jumps',
            summary:
              '1 position jump. JUMPY: 1 fix from 2024-01-01T00:02:00Z, 11123 m off. They were taken out.',
            jumps: [
              {
                track: 'jumpy',
                first_vertex: 2,
                last_vertex: 2,
                start: '2024-01-01T00:02:00Z',
                end: '2024-01-01T00:02:00Z',
                offset_m: 11122.991,
              },
            ],
            shape: [1, 3],
            axes: [
              { name: 'jump', values: ['JUMPY 2024-01-01T00:02:00Z'] },
              { name: 'quantity', values: ['first_vertex', 'fixes', 'offset_m'] },
            ],
            values: [2, 1, 11123],
          },
        },
      ],
    },
  },
]
