import { type Feature, getKind } from '@causeway/plot'

function findColourProperty(feature: Feature): string {
  switch (getKind(feature)) {
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

export function toggleColour(feature: Feature): Feature {
  const property = findColourProperty(feature)
  const colour = feature.properties[property]
  const isRed = typeof colour === 'string' && /^(red|#f00|#ff0000)$/i.test(colour)
  return { ...feature, properties: { ...feature.properties, [property]: isRed ? '#0000FF' : '#FF0000' } }
}
