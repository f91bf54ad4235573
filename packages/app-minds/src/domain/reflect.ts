/**
 * What a character concludes from what it remembers, by rules and without a model: what happens to it again and again.
 * Each conclusion names the memories that it rests on, and says nothing that they do not.
 */
import { dayMinutes } from './policy/state.ts'
import { contentWords, wordsKey } from './words.ts'

/** A lasting memory as far as something is concluded from it. */
export interface Experience {
  readonly id: string
  readonly content: string
  /** 0 to 10 */
  readonly importance: number
  readonly kind: string
  readonly subject: string | null
  /** The first says what kind of experience it is, where the policy formed it. */
  readonly tags: readonly string[]
  readonly sim_time: number | null
  /** How often it was had: memories that say the same have joined. */
  readonly times: number
  /** A newer fact has replaced it. */
  readonly is_superseded: boolean
}

/** A conclusion. */
export interface Conclusion {
  /** What it is about; a later one about the same replaces it. */
  readonly about: string
  readonly content: string
  /** 1 to 10 */
  readonly importance: number
  readonly subject: string | null
  /** Ids of the memories that it rests on, the oldest first. */
  readonly evidence: readonly string[]
  /** Time of the newest of them, game minutes. */
  readonly sim_time: number | null
}

/** How often a thing must have been for something to be concluded from it. */
const leastTimes = 3

/** Share of the words of two memories that are much the same. */
const alikeShare = 0.6

/** Share of times that must fall into one part of the day for that part to be named. */
const mostlyShare = 0.6

/** Conclusions from experiences, in the order of what they are about; the same for the same experiences. */
export function conclude(experiences: readonly Experience[]): readonly Conclusion[] {
  const inOrder = [...experiences].sort(
    (a, b) => (a.sim_time ?? 0) - (b.sim_time ?? 0) || (a.id < b.id ? -1 : 1),
  )
  const groups = new Map<string, Experience[]>()
  const put = (about: string, one: Experience): void => {
    const group = groups.get(about)
    if (group === undefined) groups.set(about, [one])
    else group.push(one)
  }
  const loose: Experience[] = []
  for (const one of inOrder) {
    const about = aboutOf(one)
    if (about !== undefined) put(about, one)
    else if (one.kind === 'episodic' && !passing.has(one.tags[0] ?? '')) loose.push(one)
  }
  for (const [about, alike] of alikeOf(loose)) for (const one of alike) put(about, one)
  return [...groups]
    .filter(([, group]) => timesOf(group) >= leastTimes)
    .map(([about, group]) => concluded(about, group))
    .sort((a, b) => (a.about < b.about ? -1 : 1))
}

/** Experiences of which more is no more: each is had once of each thing, or says nothing by itself. */
const passing: ReadonlySet<string> = new Set(['sighting', 'meeting', 'relieved', 'question'])

/** What an experience is about where its tags tell it: who refused what, which need, who told it. */
function aboutOf({ tags: [tag = '', what = ''], subject }: Experience): string | undefined {
  if (subject === null) return undefined
  if (tag === 'refusal') return `refusal|${subject}|${what}`
  return tag === 'critical' || tag === 'told' ? `${tag}|${subject}` : undefined
}

function concluded(about: string, group: readonly Experience[]): Conclusion {
  const newest = group.at(-1) as Experience // a group has three at least
  const { subject } = newest
  const said = sentence(group, newest)
  return {
    about,
    ...said,
    subject,
    evidence: group.map(({ id }) => id),
    sim_time: newest.sim_time,
  }
}

function sentence(
  group: readonly Experience[],
  { tags: [tag, what = ''], subject, content }: Experience,
): Pick<Conclusion, 'content' | 'importance'> {
  const times = timesOf(group)
  if (tag === 'refusal')
    return { content: `${subject} has refused ${what} ${times} times${mostly(group)}.`, importance: 6 }
  if (tag === 'critical')
    return { content: `My ${subject} has become critical ${times} times${mostly(group)}.`, importance: 7 }
  if (tag === 'told') {
    const wrong = group.filter(({ is_superseded }) => is_superseded).length
    const otherwise = wrong === 0 ? '' : `; ${wrong} of them turned out otherwise`
    const name = /^(.{1,80}?) told me: /.exec(content)?.[1] ?? subject
    return { content: `${name} has told me ${times} things${otherwise}.`, importance: wrong === 0 ? 4 : 6 }
  }
  const weight = Math.max(...group.map(({ importance }) => importance))
  return { content: `It was much the same ${times} times: ${content}`, importance: Math.min(10, weight + 1) }
}

/** `, mostly in the evening` where most of the times fall into one quarter of the day. */
function mostly(group: readonly Experience[]): string {
  const counts = new Map<string, number>()
  for (const { sim_time, times } of group) {
    if (sim_time === null) continue
    const minute = ((sim_time % dayMinutes) + dayMinutes) % dayMinutes
    const part = parts[Math.floor((minute / dayMinutes) * parts.length)] ?? ''
    counts.set(part, (counts.get(part) ?? 0) + times)
  }
  const part = parts.find((one) => (counts.get(one) ?? 0) >= mostlyShare * timesOf(group))
  return part === undefined ? '' : `, mostly ${part}`
}

/** The quarters of a day, from midnight. */
const parts = ['at night', 'in the morning', 'in the afternoon', 'in the evening'] as const

const timesOf = (group: readonly Experience[]): number => group.reduce((sum, { times }) => sum + times, 0)

/** Memories that say much the same, by what the oldest of them says; each joins the first that it is like. */
function alikeOf(experiences: readonly Experience[]): ReadonlyMap<string, readonly Experience[]> {
  const leaders: { readonly about: string; readonly words: ReadonlySet<string> }[] = []
  const having = new Map<string, number[]>()
  const groups = new Map<string, Experience[]>()
  for (const one of experiences) {
    const words = new Set(contentWords(one.content))
    if (words.size === 0) continue
    const near = new Set([...words].flatMap((word) => having.get(word) ?? []))
    const found = [...near].sort((a, b) => a - b).find((at) => isAlike(words, leaders[at]?.words))
    const about = found === undefined ? `again|${wordsKey(one.content)}` : (leaders[found]?.about ?? '')
    if (found === undefined) {
      for (const word of words) having.set(word, [...(having.get(word) ?? []), leaders.length])
      leaders.push({ about, words })
    }
    groups.set(about, [...(groups.get(about) ?? []), one])
  }
  return groups
}

function isAlike(words: ReadonlySet<string>, other: ReadonlySet<string> = new Set()): boolean {
  const common = [...words].filter((word) => other.has(word)).length
  return common >= alikeShare * (words.size + other.size - common)
}
