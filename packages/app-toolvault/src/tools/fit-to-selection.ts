import { padBounds, setViewport } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { findFeatureBounds } from '../domain/feature/box.ts'
import { ToolVaultError } from '../errors.ts'
import { createFeaturesArgument, injectSelectedFeatures, requireFeatures } from './arguments.ts'

export default defineTool({
  name: 'fit_to_selection',
  category: 'selection',
  title: 'Fit viewport to selection',
  about:
    'Fit the viewport to features, with a margin. Returns a setViewport command. Use it with another margin or features than zoom_to_selection of Debrief.',
  searchHint: 'zoom map',
  input: {
    features: createFeaturesArgument('Features to show'),
    padding: z
      .number()
      .min(0)
      .max(10)
      .default(0.1)
      .describe('Margin on each side, as a fraction of width and height'),
  },
  inject: { features: injectSelectedFeatures() },
  run({ features, padding }) {
    const bounds = findFeatureBounds(requireFeatures(features))
    if (bounds !== null) return setViewport(padBounds(bounds, padding))
    throw new ToolVaultError('FEATURES_NEEDED', 'the features have no coordinates', {
      data: { argument: 'features' },
    })
  },
})
