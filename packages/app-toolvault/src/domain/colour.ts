/** Which property holds the colour of a feature, and the other one of red and blue. */
import { type Feature, kindOf } from './feature.ts'

const red = '#FF0000'
const blue = '#0000FF'

/** The property, as the map reads it. */
function colourProperty(feature: Feature): string {
  switch (kindOf(feature)) {
    case 'reference-point':
    case 'buoyfield':
      return 'marker-color' in feature.properties ? 'marker-color' : 'marker_color'
    case 'track':
      return 'stroke'
    case 'zone':
      return 'fill'
    default:
      return 'color'
  }
}

/** The same feature in blue if it was red, else in red. */
export function toggled(feature: Feature): Feature {
  const property = colourProperty(feature)
  const colour = feature.properties[property]
  const isRed = typeof colour === 'string' && /^(red|#f00|#ff0000)$/i.test(colour)
  return { ...feature, properties: { ...feature.properties, [property]: isRed ? blue : red } }
}
