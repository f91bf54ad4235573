import { asObject, type JsonObject } from '@causeway/protocol'
import type { MemoryDraft } from '../memory.ts'
import type { Cell } from '../observation.ts'
import type { WorkingMemory } from '../policy/working-memory.ts'

export function readQueries(
  value: unknown,
): { readonly queries: readonly string[] } | { readonly problem: string } {
  const { queries } = asObject(value)
  const texts = Array.isArray(queries)
    ? queries.filter((one) => typeof one === 'string' && one.trim() !== '')
    : []
  if (texts.length === 0) return { problem: 'queries must be a list of 1 to 5 texts' }
  return { queries: texts.slice(0, 5).map((one) => String(one).slice(0, 300)) }
}

export interface ReadUpdate {
  /** `undefined` leaves the working memory unchanged. */
  readonly working_memory: WorkingMemory | undefined
  readonly memories: readonly Pick<MemoryDraft, 'content' | 'importance'>[]
  readonly problems: readonly string[]
}

/** Parses each member separately. Ignores an empty working memory. */
export function readUpdate(
  value: unknown,
  before: WorkingMemory,
  limits: { readonly working_memory_bytes: number; readonly memory_chars: number },
): ReadUpdate {
  const given = asObject(value)
  const problems: string[] = []
  const working = readWorking(given, before, limits.working_memory_bytes, problems)
  const list = given.new_memories ?? []
  if (!Array.isArray(list)) problems.push('new_memories must be a list')
  const memories = (Array.isArray(list) ? list : []).flatMap((one, index) => {
    const { content, importance } = asObject(typeof one === 'string' ? { content: one, importance: 5 } : one)
    if (typeof content !== 'string' || content.trim() === '') {
      problems.push(`new_memories.${index}.content must be a text`)
      return []
    }
    const weight = Number(importance)
    if (!Number.isFinite(weight)) problems.push(`new_memories.${index}.importance must be 1 to 10`)
    const clamped = Number.isFinite(weight) ? Math.min(10, Math.max(1, weight)) : 5
    return [{ content: truncateMemory(content.trim(), limits.memory_chars), importance: clamped }]
  })
  return { working_memory: working, memories, problems }
}

function readWorking(
  given: JsonObject,
  before: WorkingMemory,
  maxBytes: number,
  problems: string[],
): WorkingMemory | undefined {
  const updated = asObject(given.updated_working_memory ?? given.working_memory)
  const merged = {
    ...before,
    ...updated,
    ...(typeof given.situation_assessment === 'string'
      ? { situation_assessment: given.situation_assessment }
      : {}),
    ...(Array.isArray(given.current_goals) ? { active_goals: given.current_goals } : {}),
    ...(typeof given.emotional_state === 'string' ? { emotional_state: given.emotional_state } : {}),
  }
  const working: WorkingMemory = {
    ...merged,
    situation_assessment: toText(merged.situation_assessment, before.situation_assessment),
    active_goals: toTexts(merged.active_goals, before.active_goals),
    recent_events: toTexts(merged.recent_events, before.recent_events),
    current_plan: toTexts(merged.current_plan, before.current_plan),
    emotional_state: toText(merged.emotional_state, before.emotional_state),
  }
  const isEmpty = [
    working.situation_assessment,
    working.emotional_state,
    ...working.active_goals,
    ...working.current_plan,
  ].every((one) => one === '')
  if (isEmpty) {
    problems.push('updated_working_memory must not be empty')
    return undefined
  }
  if (JSON.stringify(working).length > maxBytes) {
    problems.push(`updated_working_memory must be shorter than ${maxBytes} bytes`)
    return undefined
  }
  return working
}

export const truncateMemory = (content: string, chars: number): string =>
  content.length <= chars ? content : `${content.slice(0, chars - 3)}[…]`

export const toDrafts = (
  memories: ReadUpdate['memories'],
  time: number,
  location: Cell | null,
): readonly MemoryDraft[] =>
  memories.map((memory) => ({
    ...memory,
    kind: 'episodic',
    subject: null,
    tags: [],
    sim_time: time,
    location,
  }))

/** Accepts every field name that models use for the action. */
export function readChosen(
  value: unknown,
): { readonly action: unknown; readonly parameters: unknown } | undefined {
  const given = asObject(value)
  const chosen = typeof given.chosen_action === 'string' ? given : asObject(given.chosen_action ?? given)
  const action = chosen.action ?? chosen.chosen_action ?? chosen.name
  if (typeof action !== 'string' || action === '') return undefined
  const parameters = asObject(chosen.parameters ?? chosen.params ?? chosen.arguments)
  // Strict schemas require every property, so models send null for omitted parameters.
  const present = Object.entries(parameters).filter(([, one]) => one !== null)
  return { action, parameters: Object.fromEntries(present) }
}

const toText = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback)
const toTexts = (value: unknown, fallback: readonly string[]): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : fallback
