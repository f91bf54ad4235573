import { z } from 'zod'
import { needed, viewportArgument } from '../../../arguments.ts'
import { addFeatures, type Bounds } from '../../../domain/command.ts'
import { gridPoints } from '../../../domain/grid.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** viewport_grid_generator: every grid has an id of its own. */
export default vaultTool({
  name: 'viewport_grid_generator',
  category: 'viewport',
  about: 'Add a grid of points over the viewport, from its south-west corner, at most 10,000 points.',
  input: {
    viewport_state: viewportArgument(),
    lat_interval: z.number().positive().describe('degrees'),
    lon_interval: z.number().positive().describe('degrees'),
  },
  inject: { viewport_state: { from: 'viewport' } },
  samples,
  run({ viewport_state, ...intervals }, { newId }) {
    const bounds = needed(viewport_state, 'viewport_state').bounds as unknown as Bounds // four, by its schema
    return addFeatures([
      {
        type: 'Feature',
        id: newId('grid'),
        geometry: { type: 'MultiPoint', coordinates: gridPoints(bounds, intervals) },
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
