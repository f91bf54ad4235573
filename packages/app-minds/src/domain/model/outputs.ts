import { asObject, type JsonObject } from '@causeway/protocol'
import type { MemoryDraft } from '../memory.ts'
import type { Cell } from '../observation.ts'
import type { WorkingMemory } from '../policy/working-memory.ts'

export function readQueries(
  value: unknown,
): { readonly queries: readonly string[] } | { readonly problem: string } {
  const { queries } = asObject(value)
  const texts = Array.isArray(queries)
    ? queries.filter((query) => typeof query === 'string' && query.trim() !== '')
    : []
  if (texts.length === 0) return { problem: 'queries must be a list of 1 to 5 texts' }
  return { queries: texts.slice(0, 5).map((query) => String(query).slice(0, 300)) }
}

export interface MemoryUpdate {
  /** `undefined` leaves the working memory unchanged. */
  readonly working_memory: WorkingMemory | undefined
  readonly memories: readonly Pick<MemoryDraft, 'content' | 'importance'>[]
  readonly problems: readonly string[]
}

/** Parses members separately: an invalid one does not affect others. Ignores an empty working memory. */
export function readUpdate(
  value: unknown,
  previousMemory: WorkingMemory,
  limits: { readonly working_memory_bytes: number; readonly memory_chars: number },
): MemoryUpdate {
  const answer = asObject(value)
  const problems: string[] = []
  const workingMemory = readWorkingMemory(answer, previousMemory, limits.working_memory_bytes, problems)
  const newMemories = answer.new_memories ?? []
  if (!Array.isArray(newMemories)) problems.push('new_memories must be a list')
  const memories = (Array.isArray(newMemories) ? newMemories : []).flatMap((memory, index) => {
    const { content, importance } = asObject(
      typeof memory === 'string' ? { content: memory, importance: 5 } : memory,
    )
    if (typeof content !== 'string' || content.trim() === '') {
      problems.push(`new_memories.${index}.content must be a text`)
      return []
    }
    const importanceValue = Number(importance)
    if (!Number.isFinite(importanceValue)) problems.push(`new_memories.${index}.importance must be 1 to 10`)
    const clamped = Number.isFinite(importanceValue) ? Math.min(10, Math.max(1, importanceValue)) : 5
    return [{ content: truncateMemory(content.trim(), limits.memory_chars), importance: clamped }]
  })
  return { working_memory: workingMemory, memories, problems }
}

function readWorkingMemory(
  answer: JsonObject,
  previousMemory: WorkingMemory,
  maxBytes: number,
  problems: string[],
): WorkingMemory | undefined {
  const updatedFields = asObject(answer.updated_working_memory ?? answer.working_memory)
  const mergedFields = {
    ...previousMemory,
    ...updatedFields,
    ...(typeof answer.situation_assessment === 'string'
      ? { situation_assessment: answer.situation_assessment }
      : {}),
    ...(Array.isArray(answer.current_goals) ? { active_goals: answer.current_goals } : {}),
    ...(typeof answer.emotional_state === 'string' ? { emotional_state: answer.emotional_state } : {}),
  }
  const workingMemory: WorkingMemory = {
    ...mergedFields,
    situation_assessment: toText(mergedFields.situation_assessment, previousMemory.situation_assessment),
    active_goals: toTexts(mergedFields.active_goals, previousMemory.active_goals),
    recent_events: toTexts(mergedFields.recent_events, previousMemory.recent_events),
    current_plan: toTexts(mergedFields.current_plan, previousMemory.current_plan),
    emotional_state: toText(mergedFields.emotional_state, previousMemory.emotional_state),
  }
  const isEmpty = [
    workingMemory.situation_assessment,
    workingMemory.emotional_state,
    ...workingMemory.active_goals,
    ...workingMemory.current_plan,
  ].every((text) => text === '')
  if (isEmpty) {
    problems.push('updated_working_memory must not be empty')
    return undefined
  }
  if (JSON.stringify(workingMemory).length > maxBytes) {
    problems.push(`updated_working_memory must be shorter than ${maxBytes} bytes`)
    return undefined
  }
  return workingMemory
}

export const truncateMemory = (content: string, chars: number): string =>
  content.length <= chars ? content : `${content.slice(0, chars - 3)}[…]`

export const toDrafts = (
  memories: MemoryUpdate['memories'],
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

/** Accepts alternative field names that models use. */
export function readChosenAction(
  value: unknown,
): { readonly action: unknown; readonly parameters: unknown } | undefined {
  const answer = asObject(value)
  const choice = typeof answer.chosen_action === 'string' ? answer : asObject(answer.chosen_action ?? answer)
  const action = choice.action ?? choice.chosen_action ?? choice.name
  if (typeof action !== 'string' || action === '') return undefined
  const parameters = asObject(choice.parameters ?? choice.params ?? choice.arguments)
  // Strict schemas require every property, so models send null for omitted parameters.
  const presentParameters = Object.entries(parameters).filter(([, parameter]) => parameter !== null)
  return { action, parameters: Object.fromEntries(presentParameters) }
}

const toText = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback)
const toTexts = (value: unknown, fallback: readonly string[]): readonly string[] =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : fallback
