import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { anySelected, features, featuresArgument } from '../../../arguments.ts'
import { paddedBounds } from '../../../domain/box.ts'
import { setViewport } from '../../../domain/command.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** Sides of the box below this many degrees are widened to it. */
const leastDegrees = 0.001

/** fit_to_selection: the smallest box, also across the antimeridian, where its east is above 180. */
export default vaultTool({
  name: 'fit_to_selection',
  category: 'selection',
  about: 'Fit the viewport to features.',
  input: {
    features: featuresArgument('features'),
    padding: z
      .number()
      .min(0)
      .max(10)
      .default(0.1)
      .describe('fraction of width and height added on each side'),
  },
  inject: { features: anySelected() },
  samples,
  run({ features: given, padding }) {
    const bounds = paddedBounds(features(given), { padding, least: leastDegrees })
    if (bounds !== undefined) return setViewport(bounds)
    throw new CausewayError('FEATURES_NEEDED', 'the features have no coordinates', {
      data: { argument: 'features' },
    })
  },
})
