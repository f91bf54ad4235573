import type { BodyId, ColumnSelection, FrameRange } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { BodyNameCollector, type BodyNames } from '../domain/bodies/body-names.ts'

const selection: ColumnSelection = {
  parts: ['collisions', 'collisionNormals', 'constraints', 'friction', 'frictionVectors'],
}

export async function findBodyNames(
  { range, ids }: { readonly range: FrameRange; readonly ids: readonly BodyId[] },
  { windows, summary, signal, progress }: AnalysisContext,
): Promise<BodyNames> {
  const collector = new BodyNameCollector(summary)
  for await (const window of windows.over(range, { signal, progress }, selection)) {
    for (let row = window.from; row < window.to; row++) collector.observe(window, row)
    if (ids.every((id) => collector.has(id))) break
  }
  return collector.names
}
