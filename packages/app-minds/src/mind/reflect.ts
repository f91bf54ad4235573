/** Drawing conclusions from lasting memories, once enough has happened since the last time. */
import { isCausewayError } from '@causeway/protocol'
import { conclude } from '../domain/reflect.ts'
import { bytesOf } from '../memory/embedding.ts'
import { memoryId } from '../store/hash.ts'
import type { MindRow } from '../store/types.ts'
import type { MindParts } from './parts.ts'

/** Lasting memories that a reflection looks back on. */
const lookingBack = 500

/**
 * Reflects where the importance of what a mind has lived through since the last time exceeds its `reflect_after`, and gives
 * the number of conclusions that are new or other than before. Where vectors cannot be made it is left for the next sleep.
 */
export async function reflect(
  { seq, mind_id, unreflected, config: { reflect_after } }: MindRow,
  { file, embedding, log }: Pick<MindParts, 'file' | 'embedding' | 'log'>,
): Promise<number> {
  if (reflect_after === 0 || unreflected <= reflect_after) return 0
  const drawn = conclude(await file.experiences(seq, lookingBack))
  try {
    const vectors = await embedding.vectors(drawn.map(({ content }) => content))
    return await file.reflect(
      seq,
      embedding.id,
      drawn.map((one, index) => ({
        ...one,
        id: memoryId(mind_id, seq, 'reflection', one.about, one.content),
        vector: bytesOf(vectors[index]),
      })),
    )
  } catch (error) {
    if (!isCausewayError(error) || error.code !== 'EMBEDDING_ERROR') throw error
    log.warn({ mind_id, err: error }, 'the mind reflects another time: its conclusions have no vectors')
    return 0
  }
}
