import { showData } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

const place = (name: string, coordinates: readonly number[]) => ({
  type: 'Feature',
  id: name,
  geometry: { type: 'Point', coordinates },
  properties: { dataType: 'reference-point', name },
})

const data = {
  title: 'Range and bearing: Paris from London',
  summary: 'Paris bears 148.046 degrees from London, range 185.7036 nm (geodesic).',
  line: 'geodesic',
  unit: 'nm',
  from: 'London',
  to: 'Paris',
  time: null,
  range: 185.703629,
  range_m: 343923.12,
  bearing_deg: 148.0459,
  reciprocal_deg: 329.9514,
  relative_bearing_deg: null,
  atb_deg: null,
}

/** GeodSolve has 343923.120091 m on 148.04592803931 degrees. */
export const samples: readonly [Sample, ...Sample[]] = [
  {
    name: 'london-paris',
    input: { features: [place('London', [-0.1278, 51.5074]), place('Paris', [2.3522, 48.8566])] },
    expectedOutput: showData(data),
  },
]
