import type { Sample } from '../../../vault-tool.ts'

/** Northward. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'three-fixes',
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
                  [-4.99, 36],
                  [-4.99, 36.01],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'B',
                timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z'],
                speeds: [35.9478, 35.9479, 35.9479],
                courses: [0, 0, 0],
              },
            },
          ],
        },
        { command: 'showText', payload: 'Speeds and courses of B are derived now.' },
      ],
    },
  },
]
