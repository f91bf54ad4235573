import type { Sample } from '../../../vault-tool.ts'

/** Half a minute before the middle to half a minute after it. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'one-stay',
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
      zones: [
        {
          type: 'Feature',
          id: 'zone',
          geometry: {
            type: 'Polygon',
            coordinates: [
              [
                [-4.995, 35.99],
                [-4.985, 35.99],
                [-4.985, 36.01],
                [-4.995, 36.01],
                [-4.995, 35.99],
              ],
            ],
          },
          properties: { dataType: 'annotation', annotationType: 'area', name: 'Zone' },
        },
      ],
    },
    expectedOutput: {
      command: 'showData',
      payload: {
        title: 'Zone transits',
        summary:
          '1 stay (1 track, 1 zone). A entered Zone at 2024-01-01T00:00:30Z and left it at 2024-01-01T00:01:30Z, 1.0 minutes.',
        transits: [
          {
            track: 'a',
            zone: 'zone',
            names: ['A', 'Zone'],
            enter_time: '2024-01-01T00:00:30Z',
            exit_time: '2024-01-01T00:01:30Z',
            enter_after_s: 30,
            exit_after_s: 90,
            duration_s: 60,
            enter_place: [-4.995, 36],
            exit_place: [-4.985, 36],
            begins_inside: false,
            ends_inside: false,
            fixes_inside: 1,
          },
        ],
        shape: [1, 4],
        axes: [
          { name: 'stay', values: ['A in Zone'] },
          { name: 'quantity', values: ['enter', 'exit', 'duration_s', 'fixes_inside'] },
        ],
        values: ['2024-01-01T00:00:30Z', '2024-01-01T00:01:30Z', 60, 1],
      },
    },
  },
]
