import { collected, collectionArgument, needed, viewportArgument } from '../../../arguments.ts'
import { touchesBox } from '../../../domain/box.ts'
import { type Bounds, composite, setSelection, showText } from '../../../domain/command.ts'
import { idOf, kindOf, nameOf } from '../../../domain/feature.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** Kinds that are no things on the map. */
const unseen = ['metadata', 'backdrop']

/** select_all_visible: the geometry itself must reach into the viewport, not only its box. */
export default vaultTool({
  name: 'select_all_visible',
  category: 'selection',
  about: 'Select all features whose geometry lies in the viewport or touches it.',
  input: { feature_collection: collectionArgument(), viewport_state: viewportArgument() },
  inject: { feature_collection: { from: 'collection' }, viewport_state: { from: 'viewport' } },
  samples,
  run({ feature_collection, viewport_state }) {
    const box = needed(viewport_state, 'viewport_state').bounds as unknown as Bounds // four, by its schema
    const seen = collected(feature_collection)
      .filter((feature) => !unseen.includes(kindOf(feature)))
      .filter((feature) => touchesBox(feature, box))
    const nameless = seen.filter((feature) => idOf(feature) === null)
    const select = setSelection([...new Set(seen.map(idOf).filter((id) => id !== null))])
    if (nameless.length === 0) return select
    return composite([
      select,
      showText(
        `${nameless.length} visible features without an id cannot be selected: ${nameless.map(nameOf).join(', ')}`,
      ),
    ])
  },
})
