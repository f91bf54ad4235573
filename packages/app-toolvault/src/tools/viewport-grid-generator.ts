import { addFeatures, type Bounds } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createGridPoints } from '../domain/feature/grid.ts'
import { createViewportArgument, requireArgument } from './arguments.ts'

export default defineTool({
  name: 'viewport_grid_generator',
  category: 'viewport',
  title: 'Generate grid of points',
  about:
    'Add a grid of at most 10,000 points over the viewport, starting at its south-west corner. Returns an addFeatures command. Use it to plan or survey an area.',
  searchHint: 'search pattern, survey points',
  input: {
    viewport_state: createViewportArgument(),
    lat_interval: z.number().positive().describe('Degrees'),
    lon_interval: z.number().positive().describe('Degrees'),
  },
  inject: { viewport_state: { from: 'viewport' } },
  run({ viewport_state, ...intervals }, newId) {
    const bounds = requireArgument(viewport_state, 'viewport_state').bounds as unknown as Bounds // length 4
    return addFeatures([
      {
        type: 'Feature',
        id: newId('grid'),
        geometry: { type: 'MultiPoint', coordinates: createGridPoints(bounds, intervals) },
        properties: {
          dataType: 'annotation',
          annotationType: 'boundary',
          color: '#0066CC',
          name: `Grid ${intervals.lat_interval} x ${intervals.lon_interval} degrees`,
        },
      },
    ])
  },
})
