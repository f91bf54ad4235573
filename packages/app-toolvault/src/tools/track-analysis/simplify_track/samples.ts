import type { Sample } from '../../../vault-tool.ts'

/** The second vertex lies eleven metres off. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'one-vertex-less',
    input: {
      tracks: [
        {
          type: 'Feature',
          id: 'bent',
          geometry: {
            type: 'LineString',
            coordinates: [
              [0, 50],
              [0.01, 50.0001],
              [0.02, 50],
              [0.02, 50.02],
            ],
          },
          properties: {
            dataType: 'track',
            name: 'BENT',
            timestamps: [
              '2024-01-01T00:00:00Z',
              '2024-01-01T00:01:00Z',
              '2024-01-01T00:02:00Z',
              '2024-01-01T00:03:00Z',
            ],
            speeds: [1, 2, 3, 4],
          },
        },
      ],
      tolerance_m: 50,
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'updateFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'bent',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [0, 50],
                  [0.02, 50],
                  [0.02, 50.02],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'BENT',
                timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:02:00Z', '2024-01-01T00:03:00Z'],
                speeds: [1, 3, 4],
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Simplified tracks',
            summary: '4 vertices became 3; none deviates by more than 50 m (time).',
            tolerance_m: 50,
            deviation: 'time',
            shape: [1, 3],
            axes: [
              { name: 'track', values: ['BENT'] },
              { name: 'quantity', values: ['vertices_before', 'vertices_after', 'kept_percent'] },
            ],
            values: [4, 3, 75],
          },
        },
      ],
    },
  },
]
