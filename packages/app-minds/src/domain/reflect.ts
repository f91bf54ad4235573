/** Rules that draw conclusions from recurring memories. */
// cspell:ignore told -- a tag of stored memories
import type { Memory } from './memory.ts'
import { minutesPerDay } from './policy/state.ts'
import { createWordsKey, listStems } from './words.ts'

export interface Experience extends Omit<Memory, 'location'> {
  /** Number of occurrences, counting merged memories. */
  readonly occurrences: number
  readonly is_superseded: boolean
}

export interface Conclusion {
  /** Key of the topic. A later conclusion with the same key supersedes this one. */
  readonly about: string
  readonly content: string
  /** 1 to 10 */
  readonly importance: number
  readonly subject: string | null
  readonly evidence: readonly string[]
  /** Game time of the newest evidence. */
  readonly sim_time: number | null
}

const minOccurrences = 3

/** Minimum Jaccard index of the words of similar memories. */
const minSimilarity = 0.6

/** Minimum fraction of occurrences in one part of the day for a conclusion to mention it. */
const minTimeOfDayShare = 0.6

export function drawConclusions(experiences: readonly Experience[]): readonly Conclusion[] {
  const sortedExperiences = [...experiences].sort(
    (a, b) => (a.sim_time ?? 0) - (b.sim_time ?? 0) || (a.id < b.id ? -1 : 1),
  )
  const groups = new Map<string, Experience[]>()
  const addToGroup = (about: string, experience: Experience): void => {
    const group = groups.get(about)
    if (group === undefined) groups.set(about, [experience])
    else group.push(experience)
  }
  const ungrouped: Experience[] = []
  for (const experience of sortedExperiences) {
    const about = findTopic(experience)
    if (about !== undefined) addToGroup(about, experience)
    else if (experience.kind === 'episodic' && !ignoredKinds.has(experience.tags[0] ?? ''))
      ungrouped.push(experience)
  }
  for (const [about, similarExperiences] of groupSimilar(ungrouped))
    for (const experience of similarExperiences) addToGroup(about, experience)
  return [...groups]
    .filter(([, group]) => countOccurrences(group) >= minOccurrences)
    .map(([about, group]) => makeConclusion(about, group))
    .sort((a, b) => (a.about < b.about ? -1 : 1))
}

/** Kinds of memories whose repetition is not significant. */
const ignoredKinds: ReadonlySet<string> = new Set(['sighting', 'meeting', 'relieved', 'question'])

function findTopic({ tags: [tag = '', interaction = ''], subject }: Experience): string | undefined {
  if (subject === null) return undefined
  if (tag === 'refusal') return `refusal|${subject}|${interaction}`
  return tag === 'critical' || tag === 'told' ? `${tag}|${subject}` : undefined
}

function makeConclusion(about: string, group: readonly Experience[]): Conclusion {
  const newestExperience = group.at(-1) as Experience
  const { subject } = newestExperience
  const description = describeGroup(group, newestExperience)
  return {
    about,
    ...description,
    subject,
    evidence: group.map(({ id }) => id),
    sim_time: newestExperience.sim_time,
  }
}

function describeGroup(
  group: readonly Experience[],
  { tags: [tag, interaction = ''], subject, content }: Experience,
): Pick<Conclusion, 'content' | 'importance'> {
  const occurrences = countOccurrences(group)
  if (tag === 'refusal')
    return {
      content: `${subject} has refused ${interaction} ${occurrences} times${describeTimeOfDay(group)}.`,
      importance: 6,
    }
  if (tag === 'critical')
    return {
      content: `My ${subject} has become critical ${occurrences} times${describeTimeOfDay(group)}.`,
      importance: 7,
    }
  if (tag === 'told') {
    const supersededCount = group.filter(({ is_superseded }) => is_superseded).length
    const correctionText = supersededCount === 0 ? '' : `; ${supersededCount} of them turned out otherwise`
    const name = /^(.{1,80}?) told me: /.exec(content)?.[1] ?? subject
    return {
      content: `${name} has told me ${occurrences} things${correctionText}.`,
      importance: supersededCount === 0 ? 4 : 6,
    }
  }
  const maxImportance = Math.max(...group.map(({ importance }) => importance))
  return {
    content: `It was much the same ${occurrences} times: ${content}`,
    importance: Math.min(10, maxImportance + 1),
  }
}

function describeTimeOfDay(group: readonly Experience[]): string {
  const counts = new Map<string, number>()
  for (const { sim_time, occurrences } of group) {
    if (sim_time === null) continue
    const minute = ((sim_time % minutesPerDay) + minutesPerDay) % minutesPerDay
    const timeOfDay = timesOfDay[Math.floor((minute / minutesPerDay) * timesOfDay.length)] ?? ''
    counts.set(timeOfDay, (counts.get(timeOfDay) ?? 0) + occurrences)
  }
  const timeOfDay = timesOfDay.find(
    (part) => (counts.get(part) ?? 0) >= minTimeOfDayShare * countOccurrences(group),
  )
  return timeOfDay === undefined ? '' : `, mostly ${timeOfDay}`
}

const timesOfDay = ['at night', 'in the morning', 'in the afternoon', 'in the evening'] as const

const countOccurrences = (group: readonly Experience[]): number =>
  group.reduce((sum, { occurrences }) => sum + occurrences, 0)

function groupSimilar(experiences: readonly Experience[]): ReadonlyMap<string, readonly Experience[]> {
  const leaders: { readonly about: string; readonly words: ReadonlySet<string> }[] = []
  const leadersByWord = new Map<string, number[]>()
  const groups = new Map<string, Experience[]>()
  for (const experience of experiences) {
    const words = new Set(listStems(experience.content))
    if (words.size === 0) continue
    const candidateIndices = new Set([...words].flatMap((word) => leadersByWord.get(word) ?? []))
    const leaderIndex = [...candidateIndices]
      .sort((a, b) => a - b)
      .find((index) => isSimilar(words, leaders[index]?.words))
    const about =
      leaderIndex === undefined
        ? `again|${createWordsKey(experience.content)}`
        : (leaders[leaderIndex]?.about ?? '')
    if (leaderIndex === undefined) {
      for (const word of words) leadersByWord.set(word, [...(leadersByWord.get(word) ?? []), leaders.length])
      leaders.push({ about, words })
    }
    groups.set(about, [...(groups.get(about) ?? []), experience])
  }
  return groups
}

function isSimilar(words: ReadonlySet<string>, other: ReadonlySet<string> = new Set()): boolean {
  const commonCount = [...words].filter((word) => other.has(word)).length
  return commonCount >= minSimilarity * (words.size + other.size - commonCount)
}
