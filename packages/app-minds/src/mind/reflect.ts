import { drawConclusions } from '../domain/reflect.ts'
import { MindsError } from '../errors.ts'
import { packVector } from '../memory/embedding.ts'
import { createMemoryId } from '../store/hash.ts'
import type { MindRow } from '../store/types.ts'
import type { MindServices } from './services.ts'

const maxExperiences = 500

/**
 * Draws conclusions if the summed importance of memories since the last reflection exceeds `reflect_after`. Returns the
 * number of new or changed conclusions. If vectors are unavailable, the next consolidation retries.
 */
export async function reflect(
  { seq, mind_id, unreflected, config: { reflect_after } }: MindRow,
  { file, embedding, log }: Pick<MindServices, 'file' | 'embedding' | 'log'>,
): Promise<number> {
  if (reflect_after === 0 || unreflected <= reflect_after) return 0
  const experiences = await file.read(({ reflections }) => reflections.listExperiences(seq, maxExperiences))
  const conclusions = drawConclusions(experiences)
  try {
    const vectors = await embedding.computeVectors(conclusions.map(({ content }) => content))
    return await file.write(({ minds, reflections }) => {
      minds.markReflected(seq)
      return conclusions.filter((conclusion, i) => {
        const id = createMemoryId(mind_id, seq, 'reflection', conclusion.about, conclusion.content)
        return reflections.add(seq, embedding.id, { ...conclusion, id, vector: packVector(vectors[i]) })
      }).length
    })
  } catch (error) {
    if (!MindsError.is(error, 'EMBEDDING_ERROR')) throw error
    log.warn({ mind_id, err: error }, 'the reflection was postponed: its conclusions have no vectors')
    return 0
  }
}
