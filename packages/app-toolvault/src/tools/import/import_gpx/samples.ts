import type { Sample } from '../../../vault-tool.ts'

/** Times of every point. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'track-and-waypoint',
    input: {
      text: '<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="51" lon="0"><name>Mark</name></wpt><trk><name>Walk</name><trkseg><trkpt lat="51" lon="0"><time>2024-01-01T00:00:00Z</time></trkpt><trkpt lat="51.01" lon="0"><time>2024-01-01T00:01:00Z</time></trkpt></trkseg></trk></gpx>',
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
                  [0, 51],
                  [0, 51.01],
                ],
              },
              properties: {
                dataType: 'track',
                name: 'Walk',
                timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T00:01:00Z'],
                source: 'GPX',
              },
            },
            {
              type: 'Feature',
              id: 'point-sample-2',
              geometry: { type: 'Point', coordinates: [0, 51] },
              properties: { dataType: 'reference-point', name: 'Mark', source: 'GPX' },
            },
          ],
        },
        {
          command: 'showData',
          payload: {
            title: 'Import of GPX',
            summary: '1 track with 2 fixes and 1 other feature from 1 line; 0 left out.',
            format: 'GPX',
            lines: 1,
            skipped: {},
            shape: [2, 4],
            axes: [
              { name: 'feature', values: ['Walk', 'Mark'] },
              { name: 'quantity', values: ['kind', 'positions', 'start', 'end'] },
            ],
            values: [
              'track',
              2,
              '2024-01-01T00:00:00Z',
              '2024-01-01T00:01:00Z',
              'reference-point',
              1,
              null,
              null,
            ],
          },
        },
      ],
    },
  },
]
