import { countVertices, type Feature, listParts, type Position } from './feature.ts'

/** Depth from which spans are split in the middle, because a zigzag would otherwise be split once per vertex. */
const maxDepth = 48

interface VertexSpan {
  readonly from: number
  readonly to: number
}

/**
 * Selects the vertices of a simplified line by splitting spans at the vertex that deviates most (Douglas and Peucker
 * 1973). `findFarthest` returns that vertex, or `undefined` if all are within the tolerance. It receives each vertex
 * at most `maxDepth + log2(n)` times. Yields the number of finished vertices and returns ascending indices.
 */
export function* selectVertices(
  spans: readonly VertexSpan[],
  findFarthest: (span: VertexSpan) => number | undefined,
): Generator<number, number[]> {
  const retained = new Set<number>()
  let doneCount = 0
  for (const initialSpan of spans) {
    const openSpans = [{ ...initialSpan, depth: 0 }]
    for (let span = openSpans.pop(); span !== undefined; span = openSpans.pop()) {
      const { from, to, depth } = span
      retained.add(from).add(to)
      const farthest = findFarthest({ from, to })
      if (farthest === undefined) doneCount += to - from
      else {
        const splitIndex = depth < maxDepth ? farthest : (from + to) >> 1
        openSpans.push({ from: splitIndex, to, depth: depth + 1 }, { from, to: splitIndex, depth: depth + 1 })
      }
      yield doneCount
    }
  }
  return [...retained].sort((a, b) => a - b)
}

/**
 * Retains the vertices with these indices, counted over all parts, and the corresponding entries of lists in
 * `properties` that have one entry per vertex. Removes parts without vertices.
 */
export function retainVertices<T extends Feature>(feature: T, retained: readonly number[]): T {
  const { geometry } = feature
  if (geometry === null) return feature
  const count = countVertices(feature)
  const retainedIndices = new Set(retained)
  let vertex = 0
  const parts = listParts(geometry)
    .map((part) => part.filter(() => retainedIndices.has(vertex++)))
    .filter((part) => part.length > 0)
  const coordinates: readonly Position[] | readonly (readonly Position[])[] =
    geometry.type === 'LineString' ? (parts[0] ?? []) : parts
  return {
    ...feature,
    geometry: { ...geometry, coordinates },
    properties: Object.fromEntries(
      Object.entries(feature.properties).map(([name, value]) => [
        name,
        Array.isArray(value) && value.length === count
          ? value.filter((_, index) => retainedIndices.has(index))
          : value,
      ]),
    ),
  }
}
