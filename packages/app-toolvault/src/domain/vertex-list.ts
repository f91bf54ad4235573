/** Features with some of their vertices left out: every list that has one entry for each vertex is cut alike. */
import { type Feature, type Position, partsOf, vertexCount } from './feature.ts'

/** The feature with the vertices of these indices, over all its parts; a part without any is gone. */
export function withVertices(feature: Feature, kept: readonly number[]): Feature {
  const { geometry } = feature
  if (geometry === null) return feature
  const count = vertexCount(feature)
  const keep = new Set(kept)
  let vertex = 0
  const parts = partsOf(geometry)
    .map((part) => part.filter(() => keep.has(vertex++)))
    .filter((part) => part.length > 0)
  const coordinates: readonly Position[] | readonly (readonly Position[])[] =
    geometry.type === 'LineString' ? (parts[0] ?? []) : parts
  return {
    ...feature,
    geometry: { ...geometry, coordinates },
    properties: Object.fromEntries(
      Object.entries(feature.properties).map(([name, value]) => [
        name,
        Array.isArray(value) && value.length === count ? value.filter((_, index) => keep.has(index)) : value,
      ]),
    ),
  }
}
