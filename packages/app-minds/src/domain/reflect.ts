/** Rules that draw conclusions from recurring memories. */
// cspell:ignore told -- a tag of stored memories
import type { Memory } from './memory.ts'
import { dayMinutes } from './policy/state.ts'
import { createWordsKey, listContentWords } from './words.ts'

export interface Experience extends Omit<Memory, 'location'> {
  /** Number of occurrences, counting merged memories. */
  readonly times: number
  readonly is_superseded: boolean
}

export interface Conclusion {
  /** The topic. A later conclusion on the same topic supersedes this one. */
  readonly about: string
  readonly content: string
  /** 1 to 10 */
  readonly importance: number
  readonly subject: string | null
  readonly evidence: readonly string[]
  /** Game time of the newest memory. */
  readonly sim_time: number | null
}

const minOccurrences = 3

/** Minimum share of words that similar memories have in common. */
const minSimilarity = 0.6

/** Minimum share of occurrences in one part of the day for a conclusion to mention this part. */
const minTimeOfDayShare = 0.6

export function drawConclusions(experiences: readonly Experience[]): readonly Conclusion[] {
  const inOrder = [...experiences].sort(
    (a, b) => (a.sim_time ?? 0) - (b.sim_time ?? 0) || (a.id < b.id ? -1 : 1),
  )
  const groups = new Map<string, Experience[]>()
  const add = (about: string, one: Experience): void => {
    const group = groups.get(about)
    if (group === undefined) groups.set(about, [one])
    else group.push(one)
  }
  const loose: Experience[] = []
  for (const one of inOrder) {
    const about = findTopic(one)
    if (about !== undefined) add(about, one)
    else if (one.kind === 'episodic' && !ignoredKinds.has(one.tags[0] ?? '')) loose.push(one)
  }
  for (const [about, similar] of groupSimilar(loose)) for (const one of similar) add(about, one)
  return [...groups]
    .filter(([, group]) => countOccurrences(group) >= minOccurrences)
    .map(([about, group]) => makeConclusion(about, group))
    .sort((a, b) => (a.about < b.about ? -1 : 1))
}

/** Kinds of memories whose repetition is not significant. */
const ignoredKinds: ReadonlySet<string> = new Set(['sighting', 'meeting', 'relieved', 'question'])

function findTopic({ tags: [tag = '', what = ''], subject }: Experience): string | undefined {
  if (subject === null) return undefined
  if (tag === 'refusal') return `refusal|${subject}|${what}`
  return tag === 'critical' || tag === 'told' ? `${tag}|${subject}` : undefined
}

function makeConclusion(about: string, group: readonly Experience[]): Conclusion {
  const newest = group.at(-1) as Experience
  const { subject } = newest
  const description = describeGroup(group, newest)
  return {
    about,
    ...description,
    subject,
    evidence: group.map(({ id }) => id),
    sim_time: newest.sim_time,
  }
}

function describeGroup(
  group: readonly Experience[],
  { tags: [tag, what = ''], subject, content }: Experience,
): Pick<Conclusion, 'content' | 'importance'> {
  const times = countOccurrences(group)
  if (tag === 'refusal')
    return {
      content: `${subject} has refused ${what} ${times} times${describeTimeOfDay(group)}.`,
      importance: 6,
    }
  if (tag === 'critical')
    return {
      content: `My ${subject} has become critical ${times} times${describeTimeOfDay(group)}.`,
      importance: 7,
    }
  if (tag === 'told') {
    const wrong = group.filter(({ is_superseded }) => is_superseded).length
    const otherwise = wrong === 0 ? '' : `; ${wrong} of them turned out otherwise`
    const name = /^(.{1,80}?) told me: /.exec(content)?.[1] ?? subject
    return { content: `${name} has told me ${times} things${otherwise}.`, importance: wrong === 0 ? 4 : 6 }
  }
  const weight = Math.max(...group.map(({ importance }) => importance))
  return { content: `It was much the same ${times} times: ${content}`, importance: Math.min(10, weight + 1) }
}

function describeTimeOfDay(group: readonly Experience[]): string {
  const counts = new Map<string, number>()
  for (const { sim_time, times } of group) {
    if (sim_time === null) continue
    const minute = ((sim_time % dayMinutes) + dayMinutes) % dayMinutes
    const part = timesOfDay[Math.floor((minute / dayMinutes) * timesOfDay.length)] ?? ''
    counts.set(part, (counts.get(part) ?? 0) + times)
  }
  const part = timesOfDay.find((one) => (counts.get(one) ?? 0) >= minTimeOfDayShare * countOccurrences(group))
  return part === undefined ? '' : `, mostly ${part}`
}

const timesOfDay = ['at night', 'in the morning', 'in the afternoon', 'in the evening'] as const

const countOccurrences = (group: readonly Experience[]): number =>
  group.reduce((sum, { times }) => sum + times, 0)

function groupSimilar(experiences: readonly Experience[]): ReadonlyMap<string, readonly Experience[]> {
  const leaders: { readonly about: string; readonly words: ReadonlySet<string> }[] = []
  const leadersByWord = new Map<string, number[]>()
  const groups = new Map<string, Experience[]>()
  for (const one of experiences) {
    const words = new Set(listContentWords(one.content))
    if (words.size === 0) continue
    const near = new Set([...words].flatMap((word) => leadersByWord.get(word) ?? []))
    const found = [...near].sort((a, b) => a - b).find((at) => isSimilar(words, leaders[at]?.words))
    const about = found === undefined ? `again|${createWordsKey(one.content)}` : (leaders[found]?.about ?? '')
    if (found === undefined) {
      for (const word of words) leadersByWord.set(word, [...(leadersByWord.get(word) ?? []), leaders.length])
      leaders.push({ about, words })
    }
    groups.set(about, [...(groups.get(about) ?? []), one])
  }
  return groups
}

function isSimilar(words: ReadonlySet<string>, other: ReadonlySet<string> = new Set()): boolean {
  const common = [...words].filter((word) => other.has(word)).length
  return common >= minSimilarity * (words.size + other.size - common)
}
