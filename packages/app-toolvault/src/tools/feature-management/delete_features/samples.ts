import { deleteFeatures } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const point = (id: string | number) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [0, 51] },
  properties: { dataType: 'reference-point' },
})

/** Ids are text, whatever they were. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'two-features',
    input: { features: [point('feature1'), point(2)] },
    expectedOutput: deleteFeatures(['feature1', '2']),
  },
  { name: 'by-id', input: { ids: ['feature1'] }, expectedOutput: deleteFeatures(['feature1']) },
  { name: 'none', input: { features: [] }, expectedOutput: deleteFeatures([]) },
]
