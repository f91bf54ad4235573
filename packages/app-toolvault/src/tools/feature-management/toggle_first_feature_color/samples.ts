import { updateFeatures } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const track = (stroke: string) => ({
  type: 'Feature' as const,
  id: 'track-1',
  geometry: {
    type: 'LineString',
    coordinates: [
      [0, 51],
      [0.1, 51],
    ],
  },
  properties: { dataType: 'track', stroke },
})

/** A red track turns blue. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'red-track',
    input: { feature_collection: { type: 'FeatureCollection', features: [track('#F00')] } },
    expectedOutput: updateFeatures([track('#0000FF')]),
  },
]
