import { z } from 'zod'
import { anySelected, featuresArgument, needed } from '../../../arguments.ts'
import { composite, deleteFeatures, showText } from '../../../domain/command.ts'
import { idOf, nameOf, readFeatures } from '../../../domain/feature.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** delete_features: the features themselves, or their ids; what has no id cannot be named and is told. */
export default vaultTool({
  name: 'delete_features',
  category: 'feature-management',
  about: 'Delete features from the plot. Answers the command that does it.',
  input: {
    features: featuresArgument('the features'),
    ids: z
      .array(z.union([z.string(), z.number()]))
      .optional()
      .describe('their ids, instead of features'),
  },
  inject: { features: anySelected() },
  samples,
  run({ features, ids }) {
    if (ids !== undefined) return deleteFeatures([...new Set(ids.map(String))])
    const all = readFeatures(needed(features, 'features'), 'features')
    const named = all.map(idOf).filter((id) => id !== null)
    const nameless = all.filter((feature) => idOf(feature) === null)
    return composite([
      deleteFeatures([...new Set(named)]),
      ...(nameless.length === 0
        ? []
        : [
            showText(
              `${nameless.length} features without an id cannot be deleted: ${nameless.map(nameOf).join(', ')}`,
            ),
          ]),
    ])
  },
})
