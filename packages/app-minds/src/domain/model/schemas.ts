/** JSON Schemas that strict servers accept: every property required and nullable, no patterns, no references. */
import type { MenuOption } from '../menu.ts'

export type AnswerSchema = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const texts = { type: 'array', items: text }

const object = (properties: Readonly<Record<string, unknown>>): AnswerSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const nullable = (type: string): AnswerSchema => ({ type: [type, 'null'] })

export const querySchema = object({ queries: texts })

const workingMemory = object({
  situation_assessment: text,
  active_goals: texts,
  recent_events: texts,
  current_plan: texts,
  emotional_state: text,
})

export const updateSchema = object({
  situation_assessment: text,
  current_goals: texts,
  emotional_state: text,
  updated_working_memory: workingMemory,
  new_memories: { type: 'array', items: object({ content: text, importance: { type: 'integer' } }) },
})

export function createActionSchema(menu: readonly MenuOption[]): AnswerSchema {
  const names = [...new Set(menu.map(({ action }) => action))]
  const parameters = [...new Set(menu.flatMap((option) => Object.keys(option.parameters)))]
  const typed = parameters.map((name) => [name, createParameterSchema(name)] as const)
  return object({
    chosen_action: object({
      action: { type: 'string', enum: names },
      parameters: object(Object.fromEntries(typed)),
    }),
  })
}

export function createMergedSchema(menu: readonly MenuOption[]): AnswerSchema {
  const update = updateSchema.properties as Readonly<Record<string, unknown>>
  const action = createActionSchema(menu).properties as Readonly<Record<string, unknown>>
  return object({ ...update, ...action })
}

function createParameterSchema(parameter: string): AnswerSchema {
  if (parameter === 'destination')
    return { ...object({ x: { type: 'integer' }, y: { type: 'integer' } }), type: ['object', 'null'] }
  if (parameter === 'accept' || parameter === 'is_farewell') return nullable('boolean')
  if (parameter === 'duration') return nullable('number')
  return nullable('string')
}
