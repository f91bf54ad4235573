/** The memories that the policy forms, by rule and with fixed importance. */
import type { KeptMessage } from '../conversation.ts'
import type { Cell, Observation } from '../observation.ts'
import { isTalk } from '../observation.ts'
import type { Happening } from './perceive.ts'
import { dialogueAct } from './speech.ts'
import { type CarriedState, dayOf } from './state.ts'

/** A memory as it forms; it gets its id with the decision. */
export interface FormedMemory {
  readonly content: string
  /** 1 to 10 */
  readonly importance: number
  readonly kind: 'episodic' | 'fact'
  /** What it is about; a newer fact about the same may replace it. */
  readonly subject: string | null
  readonly tags: readonly string[]
  readonly sim_time: number | null
  readonly location: Cell | null
}

/** New memories, and the marks by which each forms once a day. */
export function formMemories(
  observation: Observation,
  happenings: readonly Happening[],
  heard: readonly KeptMessage[],
  formed: CarriedState['formed'],
): { readonly memories: readonly FormedMemory[]; readonly formed: CarriedState['formed'] } {
  const day = dayOf(observation.time)
  const keys = new Set(formed.day === day ? formed.keys : [])
  const drafts = [
    ...happenings.flatMap((happening) => draftsOf(happening)),
    ...heard.filter((message) => message.speaker_id !== observation.entity_id).flatMap(draftOfSpeech),
  ]
  const memories: FormedMemory[] = []
  for (const { key, ...draft } of drafts) {
    if (keys.has(key)) continue
    keys.add(key)
    memories.push({ ...draft, sim_time: observation.time, location: observation.position })
  }
  return { memories, formed: { day, keys: [...keys].slice(-maxKeys) } }
}

/** Marks kept of one day: far more than a day of decisions forms. */
const maxKeys = 400

type Draft = Omit<FormedMemory, 'sim_time' | 'location'> & { readonly key: string }

/** An episode of a kind, of one thing or of one thing and what is done with it; kind and deed are its tags. */
const episode = (
  kind: string,
  of: readonly [thing: string, ...deed: string[]],
  content: string,
  importance: number,
): Draft => ({
  key: [kind, ...of].join('|'),
  content,
  importance,
  kind: 'episodic',
  subject: of[0],
  tags: [kind, ...of.slice(1)],
})

function draftsOf(happening: Happening): Draft[] {
  switch (happening.kind) {
    case 'sighting':
      return sightings(happening)
    case 'critical': {
      const { need, share } = happening
      return [episode('critical', [need], `My ${need} became critical (${Math.round(share * 100)} %).`, 6)]
    }
    case 'relieved': {
      const { need } = happening
      return [episode('relieved', [need], `My ${need} is no longer critical.`, 5)]
    }
    case 'refusal': {
      const { entity_id, interaction_name } = happening.goal
      const reason = happening.reason === null ? '' : `: ${happening.reason}`
      const content = `${entity_id} refused ${interaction_name}${reason}.`
      return [episode('refusal', [entity_id, interaction_name], content, 4)]
    }
    case 'error':
      return [{ ...episode('error', [happening.text], `Error: ${happening.text}`, 3), subject: null }]
    case 'blocked':
      return []
  }
}

function sightings({ place }: Extract<Happening, { kind: 'sighting' }>): Draft[] {
  const { entity_id, display_name, position, interactions } = place
  const where = position === null ? '' : ` at (${position[0]}, ${position[1]})`
  if (interactions.every(({ name }) => isTalk(name)))
    return [episode('meeting', [entity_id], `I met ${display_name}${where}.`, 6)]
  const names = interactions.map(({ name }) => name).join(', ')
  const content = `I saw ${display_name}${where}, where one can ${names}.`
  return [episode('sighting', [entity_id], content, 3)]
}

function draftOfSpeech({ speaker_id, speaker_name, message, is_system }: KeptMessage): Draft[] {
  if (is_system || message.trim() === '') return []
  const kind = dialogueAct(message)
  if (kind === 'greeting' || kind === 'farewell') return []
  const key = `${kind}|${speaker_id}|${message}`
  const isQuestion = kind === 'question'
  return [
    {
      key,
      content: `${speaker_name} ${isQuestion ? 'asked' : 'told'} me: ${message}`,
      importance: isQuestion ? 3 : 5 + (isDefinite(message) ? 2 : 0),
      kind: isQuestion ? 'episodic' : 'fact',
      subject: speaker_id,
      tags: isQuestion ? ['question'] : ['told'],
    },
  ]
}

/** True where something is said that can be checked: a number, a name or place, a promise. */
function isDefinite(message: string): boolean {
  const inner = message.trim().slice(1)
  return (
    /\d/.test(message) ||
    /\s\p{Lu}\p{L}+/u.test(inner) ||
    /\b(promise|will|must|agreed|meet)\b/i.test(message)
  )
}
