import { CausewayError } from '@causeway/protocol'
import { collected, collectionArgument } from '../../../arguments.ts'
import { toggled } from '../../../domain/colour.ts'
import { updateFeatures } from '../../../domain/command.ts'
import { idOf } from '../../../domain/feature.ts'
import { unusable } from '../../../domain/track.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** toggle_first_feature_color: a feature is replaced by its id, so one without an id is refused. */
export default vaultTool({
  name: 'toggle_first_feature_color',
  category: 'feature-management',
  about: 'Toggle the colour of the first feature between red and blue.',
  input: { feature_collection: collectionArgument() },
  inject: { feature_collection: { from: 'collection' } },
  samples,
  run({ feature_collection }) {
    const [first] = collected(feature_collection)
    if (first === undefined)
      throw new CausewayError('FEATURES_NEEDED', 'the collection has no features', {
        data: { argument: 'feature_collection' },
      })
    if (idOf(first) === null) throw unusable(first, 'has no id by which it could be replaced')
    return updateFeatures([toggled(first)])
  },
})
