/** Whether a newer fact replaces an older one: both speak of the same, and say something else about it. */
import { contentWords } from './words.ts'

/** A fact as far as it is compared. */
export interface Fact {
  readonly content: string
  readonly sim_time: number | null
}

/** Share of the words of the shorter one that both must have. */
const overlap = 0.6

/** True where `newer` says something else than `older` about the same things. */
export function supersedes(newer: Fact, older: Fact): boolean {
  if ((newer.sim_time ?? 0) < (older.sim_time ?? 0)) return false
  const [now, before] = [claim(newer.content), claim(older.content)]
  if ([...now][0] !== [...before][0]) return false
  if (now.size < 2 || before.size < 2) return false
  const shared = [...now].filter((word) => before.has(word)).length
  const isSameTopic = shared / Math.min(now.size, before.size) >= overlap
  const isOther = [...now].some((word) => !before.has(word)) && [...before].some((word) => !now.has(word))
  return isSameTopic && isOther
}

/** What announces a correction and is no part of the claim. */
const announcement =
  /\b(i (was|am) (wrong|mistaken)|that was (wrong|a mistake)|actually|correction|sorry|no longer|anymore|instead|but|well)\b/gi

/** The words of what was said, in order, without who said it and without the words that announce a correction. */
function claim(content: string): Set<string> {
  const said = content.replace(/^[^:]{1,80} told me: /, '')
  return new Set(contentWords(said.replace(announcement, ' ')))
}
