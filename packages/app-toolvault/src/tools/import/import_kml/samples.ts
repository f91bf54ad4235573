import type { Sample } from '../../../vault-tool.ts'

/** A track of Google's extension. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'timed-track',
    input: {
      text: '<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document><Placemark><name>Trip</name><gx:Track><when>2024-01-01T00:00:00Z</when><when>2024-01-01T00:01:00Z</when><gx:coord>0 51 0</gx:coord><gx:coord>0.01 51 0</gx:coord></gx:Track></Placemark></Document></kml>',
    },
    expectedOutput: {
      command: 'composite',
      payload: [
        {
          command: 'addFeatures',
          payload: [
            {
              type: 'Feature',
              id: 'track-sample-1',
              geometry: {
                type: 'LineString',
                coordinates: [
                  [0, 51, 0],
                  [0.01, 51, 0],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'Trip',
                timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z'],
                source: 'KML',
              },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Import of KML',
            summary: '1 track with 2 fixes from 1 line; 0 left out.',
            format: 'KML',
            lines: 1,
            skipped: {},
            shape: [1, 4],
            axes: [
              { name: 'feature', values: ['Trip'] },
              { name: 'quantity', values: ['kind', 'positions', 'start', 'end'] },
            ],
            values: ['track', 2, '2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z'],
          },
        },
      ],
    },
  },
]
