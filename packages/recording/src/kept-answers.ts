import { type CallOptions, sharedTasks } from '@causeway/worker'

/** Answers to questions that were asked before; what is asked of does not change, so neither do they. */
export interface KeptAnswers {
  /** The answer that is kept under this key, else what `work` answers, once for all who ask meanwhile. */
  of(
    key: string,
    work: (options: Required<CallOptions>) => Promise<unknown>,
    options: CallOptions,
  ): Promise<unknown>
}

/** Answers kept of one recording. */
const mostAnswers = 16

/** Keeps nothing yet; beyond `most` answers the one used longest ago goes. */
export function keptAnswers(most = mostAnswers): KeptAnswers {
  const answers = new Map<string, unknown>()
  const tasks = sharedTasks<unknown>()
  const keep = (key: string, answer: unknown): void => {
    answers.delete(key)
    answers.set(key, answer)
    const [oldest] = answers.keys()
    if (answers.size > most && oldest !== undefined) answers.delete(oldest)
  }
  return {
    async of(key, work, options) {
      const answer = answers.has(key) ? answers.get(key) : await tasks.run(key, work, options)
      keep(key, answer)
      return answer
    },
  }
}
