import type { Sample } from '../../../vault-tool.ts'

/** Two legs of one minute. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'three-fixes',
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
    },
    expectedOutput: {
      command: 'showData',
      payload: {
        title: 'Track statistics',
        summary: 'A: 0.974 nm in 0.03 h, 3 fixes, 29.2 knots in the mean and 29.2 at most.',
        tracks: [
          {
            id: 'a',
            name: 'A',
            fixes: 3,
            start: '2024-01-01T00:00:00Z',
            end: '2024-01-01T00:02:00Z',
            duration_s: 120,
            length_m: 1803.274,
            length_nm: 0.97369,
            made_good_m: 1803.274,
            made_good_deg: 89.9941,
            mean_speed_kn: 29.2107,
            min_speed_kn: 29.2107,
            median_speed_kn: 29.2107,
            max_speed_kn: 29.2107,
            max_speed_at: '2024-01-01T00:01:00Z',
            median_interval_s: 60,
            gaps: [],
            recorded_median_speed_kn: null,
            min_elevation_m: null,
            max_elevation_m: null,
            gap_count: 0,
          },
        ],
        shape: [1, 8],
        axes: [
          { name: 'track', values: ['A'] },
          {
            name: 'quantity',
            values: [
              'fixes',
              'length_nm',
              'duration_s',
              'mean_speed_kn',
              'median_speed_kn',
              'max_speed_kn',
              'recorded_median_speed_kn',
              'gaps',
            ],
          },
        ],
        values: [3, 0.974, 120, 29.21, 29.21, 29.21, null, 0],
      },
    },
  },
]
