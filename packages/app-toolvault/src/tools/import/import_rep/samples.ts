import type { Sample } from '../../../vault-tool.ts'

/** A year of two digits, and a narrative that is told of. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'two-fixes',
    input: {
      text: '951212 050000.000 NELSON @C 22 11 10.63 N 21 41 52.37 W 269.7 2.0 0\n951212 050100.000 NELSON @C 22 11 10.58 N 21 42 2.98 W 269.7 2.0 0\n;NARRATIVE: 951212 050000 NELSON Start',
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'addFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'rep-sample-1',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [-21.697880556, 22.186286111, 0],
                  [-21.700827778, 22.186272222, 0],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'NELSON',
                timestamps: ['1995-12-12T05:00:00Z', '1995-12-12T05:01:00Z'],
                speeds: [2, 2],
                courses: [269.7, 269.7],
                source: 'REP',
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Import of Debrief REP',
            summary: '1 track with 2 fixes from 3 lines; 1 left out.',
            format: 'Debrief REP',
            lines: 3,
            skipped: { NARRATIVE: 1 },
            shape: [1, 4],
            axes: [
              { name: 'feature', values: ['NELSON'] },
              { name: 'quantity', values: ['kind', 'positions', 'start', 'end'] },
            ],
            values: ['track', 2, '1995-12-12T05:00:00Z', '1995-12-12T05:01:00Z'],
          },
        },
      ],
    },
  },
]
