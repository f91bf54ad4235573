import { addFeatures } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

/** The id is the first that a run gets. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'two-by-two',
    input: { viewport_state: { bounds: [0, 50, 1, 51] }, lat_interval: 1, lon_interval: 1 },
    expectedOutput: addFeatures([
      {
        type: 'Feature',
        id: 'grid-sample-1',
        geometry: {
          type: 'MultiPoint',
          coordinates: [
            [0, 50],
            [1, 50],
            [0, 51],
            [1, 51],
          ],
        },
        properties: {
          dataType: 'annotation',
          annotationType: 'boundary',
          color: '#0066CC',
          name: 'Grid 1 x 1 degrees',
        },
      },
    ]),
  },
]
