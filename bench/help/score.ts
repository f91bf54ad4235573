/** Scores of ranked pages. */

/** Shares of questions, 0 to 1, with an answer among the first 1, 5, 10 results; and the mean of 1 / rank of the first answer. */
export interface Score {
  readonly hit1: number
  readonly hit5: number
  readonly hit10: number
  readonly mrr: number
}

/** Ranks of first answers, from 1; undefined if no page answers. */
export function score(ranks: readonly (number | undefined)[]): Score {
  const share = (most: number): number =>
    ranks.filter((rank) => rank !== undefined && rank <= most).length / ranks.length
  const mrr = ranks.reduce<number>((sum, rank) => sum + (rank === undefined ? 0 : 1 / rank), 0) / ranks.length
  return { hit1: share(1), hit5: share(5), hit10: share(10), mrr }
}

/** Returns the rank of the first page that answers, from 1. */
export function firstAnswer(found: readonly string[], wanted: readonly string[]): number | undefined {
  const at = found.findIndex((page) => wanted.includes(page))
  return at < 0 ? undefined : at + 1
}
