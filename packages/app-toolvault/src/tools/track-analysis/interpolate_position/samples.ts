import type { Sample } from '../../../vault-tool.ts'

/** Half a minute after the first fix. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'half-way',
    input: {
      tracks: [
        {
          type: 'Feature',
          id: 'a',
          geometry: {
            type: 'LineString',
            coordinates: [
              [-5, 36],
              [-4.99, 36],
              [-4.98, 36],
            ],
          },
          properties: {
            dataType: 'track',
            name: 'A',
            timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z'],
          },
        },
      ],
      at: '2024-01-01T00:00:30Z',
    },
    expectedOutput: {
      command: 'showData',
      payload: {
        title: 'Positions at 2024-01-01T00:00:30Z',
        summary:
          'A at 36.000000, -4.995000 (latitude, longitude), course 90.0, 29.2 knots (at 2024-01-01T00:00:30Z, 1 track).',
        time: '2024-01-01T00:00:30Z',
        shape: [1, 4],
        axes: [
          { name: 'track', values: ['A'] },
          { name: 'quantity', values: ['lon', 'lat', 'course_deg', 'speed_kn'] },
        ],
        values: [-4.995, 36.0000001, 90, 29.21],
      },
    },
  },
]
