import type { Sample } from '../../../vault-tool.ts'

/** Times of day and a date of the caller. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'gll-without-date',
    input: {
      text: '$GPGLL,5951.5000,N,02319.6200,E,095559,A*2F\n$GPVTG,213.3,T,,M,6.4,N,11.9,K*58\n$GPGLL,5951.4900,N,02319.6100,E,095601,A*2A',
      date: '2014-08-15',
      name: 'Plaka',
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'addFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'nmea-sample-1',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [23.327, 59.858333333],
                  [23.326833333, 59.858166667],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'Plaka',
                timestamps: ['2014-08-15T09:55:59Z', '2014-08-15T09:56:01Z'],
                speeds: [6.4, null],
                courses: [213.3, null],
                source: 'NMEA 0183',
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Import of NMEA 0183',
            summary: '1 track with 2 fixes from 3 lines; 0 left out. The date is the one given.',
            format: 'NMEA 0183',
            lines: 3,
            skipped: {},
            shape: [1, 4],
            axes: [
              { name: 'feature', values: ['Plaka'] },
              { name: 'quantity', values: ['kind', 'positions', 'start', 'end'] },
            ],
            values: ['track', 2, '2014-08-15T09:55:59Z', '2014-08-15T09:56:01Z'],
          },
        },
      ],
    },
  },
]
