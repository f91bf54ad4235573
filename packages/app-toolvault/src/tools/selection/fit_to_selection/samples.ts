import { setViewport } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const line = (...coordinates: readonly (readonly number[])[]) => ({
  type: 'Feature',
  id: 'line',
  geometry: { type: 'LineString', coordinates },
  properties: { dataType: 'track' },
})

/** Without padding, so that the box is exact. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'one-line',
    input: { features: [line([-1, 50], [2, 53])], padding: 0 },
    expectedOutput: setViewport([-1, 50, 2, 53]),
  },
  {
    name: 'antimeridian',
    input: { features: [line([179.5, 10], [-179.5, 11])], padding: 0 },
    expectedOutput: setViewport([179.5, 10, 180.5, 11]),
  },
]
