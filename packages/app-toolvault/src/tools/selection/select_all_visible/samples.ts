import { setSelection } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const feature = (id: string, type: string, coordinates: unknown) => ({
  type: 'Feature',
  id,
  geometry: { type, coordinates },
  properties: {},
})

const diagonal = feature('diagonal', 'LineString', [
  [0, 0],
  [10, 10],
])
const point = feature('point', 'Point', [7, 1])

/** The box of the diagonal overlaps the viewport, the diagonal itself does not. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'diagonal-misses',
    input: {
      feature_collection: { type: 'FeatureCollection', features: [diagonal, point] },
      viewport_state: { bounds: [6, 0, 9, 3] },
    },
    expectedOutput: setSelection(['point']),
  },
]
