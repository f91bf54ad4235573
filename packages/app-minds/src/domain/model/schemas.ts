/** JSON Schemas that strict servers accept: every property required and nullable, no patterns, no references. */
import type { MenuOption } from '../menu.ts'

export type AnswerSchema = Readonly<Record<string, unknown>>

const textSchema = { type: 'string' }
const textListSchema = { type: 'array', items: textSchema }

const createObjectSchema = (properties: Readonly<Record<string, unknown>>): AnswerSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const createNullableSchema = (type: string): AnswerSchema => ({ type: [type, 'null'] })

export const querySchema = createObjectSchema({ queries: textListSchema })

const workingMemorySchema = createObjectSchema({
  situation_assessment: textSchema,
  active_goals: textListSchema,
  recent_events: textListSchema,
  current_plan: textListSchema,
  emotional_state: textSchema,
})

export const updateSchema = createObjectSchema({
  situation_assessment: textSchema,
  current_goals: textListSchema,
  emotional_state: textSchema,
  updated_working_memory: workingMemorySchema,
  new_memories: {
    type: 'array',
    items: createObjectSchema({ content: textSchema, importance: { type: 'integer' } }),
  },
})

export function createActionSchema(menu: readonly MenuOption[]): AnswerSchema {
  const names = [...new Set(menu.map(({ action }) => action))]
  const parameters = [...new Set(menu.flatMap((option) => Object.keys(option.parameters)))]
  const parameterSchemas = parameters.map((name) => [name, createParameterSchema(name)] as const)
  return createObjectSchema({
    chosen_action: createObjectSchema({
      action: { type: 'string', enum: names },
      parameters: createObjectSchema(Object.fromEntries(parameterSchemas)),
    }),
  })
}

export function createMergedSchema(menu: readonly MenuOption[]): AnswerSchema {
  const update = updateSchema.properties as Readonly<Record<string, unknown>>
  const action = createActionSchema(menu).properties as Readonly<Record<string, unknown>>
  return createObjectSchema({ ...update, ...action })
}

function createParameterSchema(parameter: string): AnswerSchema {
  if (parameter === 'destination')
    return {
      ...createObjectSchema({ x: { type: 'integer' }, y: { type: 'integer' } }),
      type: ['object', 'null'],
    }
  if (parameter === 'accept' || parameter === 'is_farewell') return createNullableSchema('boolean')
  if (parameter === 'duration') return createNullableSchema('number')
  return createNullableSchema('string')
}
