import {
  type Bounds,
  createComposite,
  getFeatureId,
  getKind,
  getLabel,
  setSelection,
  showText,
} from '@causeway/plot'
import { defineTool } from '../catalog/vault-tool.ts'
import { intersectsBox } from '../domain/feature/box.ts'
import {
  createCollectionArgument,
  createViewportArgument,
  requireArgument,
  requireCollection,
} from './arguments.ts'

const invisibleKinds = ['metadata', 'backdrop']

export default defineTool({
  name: 'select_all_visible',
  category: 'selection',
  title: 'Select all visible features',
  about:
    'Select all features whose geometry is in the viewport or touches it. Returns a setSelection command. Use it before a tool that works on the selection.',
  searchHint: 'select everything on screen',
  input: { feature_collection: createCollectionArgument(), viewport_state: createViewportArgument() },
  inject: { feature_collection: { from: 'collection' }, viewport_state: { from: 'viewport' } },
  run({ feature_collection, viewport_state }) {
    const box = requireArgument(viewport_state, 'viewport_state').bounds as unknown as Bounds // length 4
    const visibleFeatures = requireCollection(feature_collection)
      .filter((feature) => !invisibleKinds.includes(getKind(feature)))
      .filter((feature) => intersectsBox(feature, box))
    const featuresWithoutId = visibleFeatures.filter((feature) => getFeatureId(feature) === null)
    const selectCommand = setSelection([
      ...new Set(visibleFeatures.map(getFeatureId).filter((id) => id !== null)),
    ])
    if (featuresWithoutId.length === 0) return selectCommand
    return createComposite([
      selectCommand,
      showText(
        `${featuresWithoutId.length} visible features without an id cannot be selected: ${featuresWithoutId.map(getLabel).join(', ')}`,
      ),
    ])
  },
})
