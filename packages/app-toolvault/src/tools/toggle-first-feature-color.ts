import { getFeatureId, updateFeatures } from '@causeway/plot'
import { defineTool } from '../catalog/vault-tool.ts'
import { toggleColour } from '../domain/feature/colour.ts'
import { createFeatureError } from '../domain/feature/read-features.ts'
import { ToolVaultError } from '../errors.ts'
import { createCollectionArgument, requireCollection } from './arguments.ts'

export default defineTool({
  name: 'toggle_first_feature_color',
  category: 'feature-management',
  title: 'Toggle colour of first feature',
  about:
    'Toggle the colour of the first feature between red and blue. Returns an updateFeatures command. Use it to mark one feature; for another colour use update_features of Debrief.',
  searchHint: 'recolour, highlight',
  input: { feature_collection: createCollectionArgument() },
  inject: { feature_collection: { from: 'collection' } },
  run({ feature_collection }) {
    const [first] = requireCollection(feature_collection)
    if (first === undefined)
      throw new ToolVaultError('FEATURES_NEEDED', 'the collection has no features', {
        data: { argument: 'feature_collection' },
      })
    if (getFeatureId(first) === null)
      throw createFeatureError(first, 'has no id, which is required to replace it')
    return updateFeatures([toggleColour(first)])
  },
})
