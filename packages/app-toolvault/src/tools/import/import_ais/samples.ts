import type { Sample } from '../../../vault-tool.ts'

/** A vessel under way, with times in tag blocks. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'two-reports',
    input: {
      text: '\\c:1704067200*58\\!AIVDM,1,1,,A,13P7@h@01sOVlc0DVG01j1Mp0000,0*4D\n\\c:1704067230*5B\\!AIVDM,1,1,,A,13P7@h@0?wOVm@PDVIF>41Mp0000,0*2C',
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'addFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'ais-sample-1',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [-5.5, 36],
                  [-5.498, 36.001],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'MMSI 235000001',
                timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:00:30Z'],
                speeds: [12.3, null],
                courses: [45.6, null],
                source: 'AIS',
                mmsi: '235000001',
                stationType: 'vessel',
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Import of AIS',
            summary: '1 track with 2 fixes from 2 lines; 0 left out.',
            format: 'AIS',
            lines: 2,
            skipped: {},
            shape: [1, 4],
            axes: [
              { name: 'feature', values: ['MMSI 235000001'] },
              { name: 'quantity', values: ['kind', 'positions', 'start', 'end'] },
            ],
            values: ['track', 2, '2024-01-01T00:00:00Z', '2024-01-01T00:00:30Z'],
          },
        },
      ],
    },
  },
]
