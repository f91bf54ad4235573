/** GeoJSON for expensive requests. */
import { counted } from './attack.ts'

const dataTypes = { LineString: 'track', Polygon: 'zone', Point: 'reference-point' }

/** A feature. `properties` starts with a comma. */
export const feature = (
  id: string,
  type: keyof typeof dataTypes,
  coordinates: string,
  properties = '',
): string =>
  `{"type":"Feature","id":"${id}","geometry":{"type":"${type}","coordinates":${coordinates}},"properties":{"dataType":"${dataTypes[type]}","name":"a"${properties}}}`

/** A track with a fix every second that jumps between two latitudes. */
export const timedTrack = (bytes: number): string => {
  const times = counted(bytes * 0.55, (index) => `"${new Date(1.7e12 + index * 1000).toISOString()}"`)
  const positions = `[${times.split(',').map((_, index) => `[${(index / 1e5).toFixed(5)},${index % 2}]`)}]`
  return feature('long', 'LineString', positions, `,"timestamps":${times}`)
}

/** The positions of a zone that `timedTrack` enters or leaves with each fix. */
export const square = '[[[-1,0.2],[20,0.2],[20,0.8],[-1,0.8],[-1,0.2]]]'
