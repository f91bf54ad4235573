/** What minds remember of what they were told, after they slept on it. */
import type { Call } from './client.ts'
import type { Script, Told } from './script.ts'
import type { Done } from './teller.ts'

/** So many of so many. */
export interface Share {
  readonly hits: number
  readonly of: number
  /** What was missed, for the reader. */
  readonly missed: readonly string[]
}

/** Recall of a run. */
export interface RecallScore {
  /** Told facts among the first five memories, asked in the words that were used, and in others. */
  readonly exact: Share
  readonly paraphrase: Share
  /** Corrected facts that came up by either way of asking, and whose newest form ranks above the first one. */
  readonly newest: Share
  /** Questions about things never said that bring up no fact. */
  readonly empty: Share
}

/** Memories looked at. */
const k = 5

/** Asks for every fact that was told. */
export async function recallScore(call: Call, script: Script, done: readonly Done[]): Promise<RecallScore> {
  const was = (kind: 'tell' | 'correct', id: string): boolean =>
    done.some(({ errand }) => errand.kind === kind && errand.id === id)
  const told = script.told.filter(({ id }) => was('tell', id))
  const corrected = told.filter(({ id, isCorrected }) => isCorrected && was('correct', id))
  const ask = async (hearer: string, query: string, most = k): Promise<readonly string[]> => {
    const { memories } = await call('recall_memories', { mind_id: hearer, query, k: most })
    return (memories as readonly { readonly content: string }[]).map(({ content }) => content)
  }
  const found = (wording: 'exact' | 'paraphrase') =>
    share(told, async (fact) => {
      const known = corrected.includes(fact) ? fact.now : fact.first
      const memories = await ask(fact.hearer, fact[wording])
      return memories.some((content) => content.includes(known))
        ? undefined
        : `${fact[wording]} (${known}): ${memories[0] ?? 'nothing'}`
    })
  return {
    exact: await found('exact'),
    paraphrase: await found('paraphrase'),
    newest: await newestScore(corrected, ask),
    empty: await share(script.never, async ({ hearer, text }) => {
      const memories = await ask(hearer, text)
      return memories.length === 0 ? undefined : `${text}: ${memories[0]}`
    }),
  }
}

async function newestScore(
  corrected: readonly Told[],
  ask: (hearer: string, query: string, most: number) => Promise<readonly string[]>,
): Promise<Share> {
  const ranked: { readonly query: string; readonly now: number; readonly first: number }[] = []
  for (const fact of corrected)
    for (const query of [fact.exact, fact.paraphrase]) {
      const memories = await ask(fact.hearer, query, 50)
      const rankOf = (text: string): number => memories.findIndex((content) => content.includes(text))
      const [now, first] = [rankOf(fact.now), rankOf(fact.first)]
      // A fact that does not come up at all is missed by recall, not by its correction.
      if (now >= 0 || first >= 0) ranked.push({ query, now, first })
    }
  return share(ranked, async ({ query, now, first }) =>
    now >= 0 && (first < 0 || now < first)
      ? undefined
      : `${query}: the correction is at ${now}, the first at ${first}`,
  )
}

async function share<T>(all: readonly T[], miss: (one: T) => Promise<string | undefined>): Promise<Share> {
  const missed: string[] = []
  for (const one of all) {
    const text = await miss(one)
    if (text !== undefined) missed.push(text)
  }
  return { hits: all.length - missed.length, of: all.length, missed }
}
