import { type CallOptions, sharedTasks } from '@causeway/worker'
import { dataBytes } from './domain/data-bytes.ts'

/** Answers to questions that were asked before; what is asked of does not change, so neither do they. */
export interface KeptAnswers {
  /** The answer that is kept under this key, else what `work` answers, once for all who ask meanwhile. */
  of(
    key: string,
    work: (options: Required<CallOptions>) => Promise<unknown>,
    options: CallOptions,
  ): Promise<unknown>
  /** bytes that are kept, about */
  readonly bytes: number
  /** Forgets answers until so many bytes are given back, what was asked longest ago first; gives the bytes. */
  shrink(bytes: number): number
}

/** Answers kept of one recording. */
const mostAnswers = 16

/** Keeps nothing yet; beyond `most` answers the one used longest ago goes. */
export function keptAnswers(most = mostAnswers): KeptAnswers {
  const answers = new Map<string, { readonly answer: unknown; readonly bytes: number }>()
  const tasks = sharedTasks<unknown>()
  let bytes = 0
  const forgetOldest = (): number => {
    const [oldest] = answers
    if (oldest === undefined) return 0
    answers.delete(oldest[0])
    bytes -= oldest[1].bytes
    return oldest[1].bytes
  }
  return {
    async of(key, work, options) {
      const known = answers.get(key)
      if (known !== undefined) {
        answers.delete(key)
        answers.set(key, known)
        return known.answer
      }
      const answer = await tasks.run(key, work, options)
      // Whoever waited for the same work has kept it already.
      if (!answers.has(key)) {
        const kept = { answer, bytes: dataBytes(answer) }
        answers.set(key, kept)
        bytes += kept.bytes
        if (answers.size > most) forgetOldest()
      }
      return answer
    },
    get bytes() {
      return bytes
    },
    shrink(wanted) {
      let given = 0
      while (given < wanted && answers.size > 0) given += forgetOldest()
      return given
    },
  }
}
