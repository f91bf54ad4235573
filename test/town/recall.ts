/** Measures how well minds remember the facts of the script after consolidation. */
import type { Call } from './client.ts'
import type { Fact, Script } from './script.ts'
import type { SpokenLine } from './scripted-speaker.ts'

/** Number of successes among all attempts. */
export interface Share {
  readonly hits: number
  readonly total: number
  /** Descriptions of the failures. */
  readonly missed: readonly string[]
}

/** Recall of a run. */
export interface RecallScore {
  /** Stated facts among the first five memories, for questions with the words of the statement. */
  readonly exact: Share
  /** The same for questions with other words. */
  readonly paraphrase: Share
  /** Recalled facts with a correction, if the correction ranks above the original statement. */
  readonly newest: Share
  /** Questions about unmentioned things for which the result is empty. */
  readonly empty: Share
}

/** Number of memories to request. */
const defaultLimit = 5

/** Asks about every stated fact. */
export async function measureRecall(
  call: Call,
  script: Script,
  spoken: readonly SpokenLine[],
): Promise<RecallScore> {
  const wasSpoken = (kind: 'state' | 'correct', id: string): boolean =>
    spoken.some(({ line }) => line.kind === kind && line.id === id)
  const stated = script.facts.filter(({ id }) => wasSpoken('state', id))
  const corrected = stated.filter(({ id, isCorrected }) => isCorrected && wasSpoken('correct', id))
  const recall = async (mind: string, query: string, limit = defaultLimit): Promise<readonly string[]> => {
    const { memories } = await call('recall_memories', { mind_id: mind, query, k: limit })
    return (memories as readonly { readonly content: string }[]).map(({ content }) => content)
  }
  const measureWording = (wording: 'exact' | 'paraphrase') =>
    measureShare(stated, async (fact) => {
      const expected = corrected.includes(fact) ? fact.current : fact.original
      const memories = await recall(fact.listener, fact[wording])
      return memories.some((content) => content.includes(expected))
        ? undefined
        : `${fact[wording]} (${expected}): ${memories[0] ?? 'nothing'}`
    })
  return {
    exact: await measureWording('exact'),
    paraphrase: await measureWording('paraphrase'),
    newest: await measureCorrections(corrected, recall),
    empty: await measureShare(script.unmentioned, async ({ listener, text }) => {
      const memories = await recall(listener, text)
      return memories.length === 0 ? undefined : `${text}: ${memories[0]}`
    }),
  }
}

async function measureCorrections(
  corrected: readonly Fact[],
  recall: (mind: string, query: string, limit: number) => Promise<readonly string[]>,
): Promise<Share> {
  const ranked: { readonly query: string; readonly current: number; readonly original: number }[] = []
  for (const fact of corrected)
    for (const query of [fact.exact, fact.paraphrase]) {
      const memories = await recall(fact.listener, query, 50)
      const findRank = (text: string): number => memories.findIndex((content) => content.includes(text))
      const [current, original] = [findRank(fact.current), findRank(fact.original)]
      // A fact that is not recalled at all is a failure of recall, not of its correction.
      if (current >= 0 || original >= 0) ranked.push({ query, current, original })
    }
  return measureShare(ranked, async ({ query, current, original }) =>
    current >= 0 && (original < 0 || current < original)
      ? undefined
      : `${query}: the correction is at ${current}, the original at ${original}`,
  )
}

/** Counts the items for which `findFailure` resolves to `undefined`. */
async function measureShare<T>(
  items: readonly T[],
  findFailure: (item: T) => Promise<string | undefined>,
): Promise<Share> {
  const missed: string[] = []
  for (const item of items) {
    const text = await findFailure(item)
    if (text !== undefined) missed.push(text)
  }
  return { hits: items.length - missed.length, total: items.length, missed }
}
