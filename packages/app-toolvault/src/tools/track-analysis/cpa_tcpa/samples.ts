import type { Sample } from '../../../vault-tool.ts'

/** A crosses ahead of b. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'crossing',
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
      command: 'showData',
      payload: {
        title: 'Closest points of approach',
        summary:
          'A and B were closest at 2024-01-01T00:01:00Z: 0.0 m (0.000 nm, geodesic), B bearing 180.0 degrees from A.',
        pairs: 1,
        without_overlap: 0,
        motion: 'derived',
        approaches: [
          {
            a: 'a',
            b: 'b',
            names: ['A', 'B'],
            time: '2024-01-01T00:01:00Z',
            cpa_m: 0,
            cpa_nm: 0,
            bearing_deg: 180,
            place_a: [-4.99, 36],
            place_b: [-4.99, 36],
            predicted: {
              at: '2024-01-01T00:00:00Z',
              tcpa_s: 60,
              dcpa_m: 0,
              range_m: 1429.769,
              relative_speed_kn: 46.3208,
            },
          },
        ],
        shape: [1, 6],
        axes: [
          { name: 'pair', values: ['A / B'] },
          { name: 'quantity', values: ['time', 'cpa_m', 'cpa_nm', 'bearing_deg', 'tcpa_s', 'dcpa_m'] },
        ],
        values: ['2024-01-01T00:01:00Z', 0, 0, 180, 60, 0],
      },
    },
  },
]
