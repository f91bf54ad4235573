import t from 'tap'
import { toggled } from '../../src/domain/colour.ts'
import { type Feature, readFeatures } from '../../src/domain/feature.ts'

/** JSON whose text no template can make: `toString` is no function. */
const hostile = { toString: 'x' }

t.test('a geometry whose type is an object is told by its JSON', async (t) => {
  const value = { type: 'Feature', geometry: { type: hostile, coordinates: [] }, properties: {} }
  t.throws(() => readFeatures([value], 'features'), {
    code: 'INVALID_ARGUMENTS',
    message: /geometry type \{"toString":"x"\} is not one of Point/,
  })
})

t.test('a colour that is an object is none, and becomes one', async (t) => {
  const value = { type: 'Feature', geometry: null, properties: { color: hostile } } as unknown as Feature
  t.match(toggled(value).properties, { color: '#FF0000' })
})
