import {
  createComposite,
  deleteFeatures,
  formatCount,
  getFeatureId,
  getLabel,
  showText,
} from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createFeaturesArgument, injectSelectedFeatures, requireFeatures } from './arguments.ts'

export default defineTool({
  name: 'delete_features',
  category: 'feature-management',
  title: 'Delete features',
  about:
    'Return a deleteFeatures command for features or ids. Use it through run_tool; to delete features of an open plot use delete_features of Debrief.',
  searchHint: 'erase from GeoJSON',
  input: {
    features: createFeaturesArgument('Features to delete'),
    ids: z
      .array(z.union([z.string(), z.number()]))
      .optional()
      .describe('Ids to delete, instead of features'),
  },
  inject: { features: injectSelectedFeatures() },
  run({ features, ids }) {
    if (ids !== undefined) return deleteFeatures([...new Set(ids.map(String))])
    const parsedFeatures = requireFeatures(features)
    const knownIds = parsedFeatures.map(getFeatureId).filter((id) => id !== null)
    const featuresWithoutId = parsedFeatures.filter((feature) => getFeatureId(feature) === null)
    return createComposite([
      deleteFeatures([...new Set(knownIds)]),
      ...(featuresWithoutId.length === 0
        ? []
        : [
            showText(
              `${formatCount(featuresWithoutId.length, 'feature')} without an id cannot be deleted: ${featuresWithoutId.map(getLabel).join(', ')}`,
            ),
          ]),
    ])
  },
})
