/** zod shapes to the JSON Schemas that every client can read, and refusal of those that some client cannot. */
import { CausewayError, type JsonSchema } from '@causeway/protocol'
import { z } from 'zod'

/** The members of a tool's input or output. */
export type Shape = z.ZodRawShape

/**
 * Arguments as JSON Schema 2020-12: closed (an unknown argument is a mistake), every property described.
 * Throws `INVALID_APP` for what has no JSON Schema or no description.
 */
export function inputSchema(owner: string, shape: Shape): JsonSchema {
  const schema = convert(owner, z.strictObject(shape))
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)) {
    if (typeof property.description !== 'string')
      throw new CausewayError('INVALID_APP', `argument without a description: ${owner}.${name}`)
  }
  return schema
}

/**
 * An answer as JSON Schema 2020-12: open at every level, so that a field added later does not break a client that
 * holds an older list. Throws `INVALID_APP` for transforms and what else has no JSON Schema.
 */
export function outputSchema(owner: string, shape: Shape): JsonSchema {
  // A transform has an input but no output schema: one such tool would make every tool vanish in older clients.
  convert(owner, z.object(shape), { io: 'output' })
  return convert(owner, z.object(shape), { reused: 'ref' })
}

/** The fields of a form that a user fills in, as `elicitation/create` wants them. Throws as `outputSchema` does. */
export const formSchema = (owner: string, shape: Shape): JsonSchema => convert(owner, z.object(shape))

function convert(
  owner: string,
  schema: z.ZodObject,
  { io = 'input', reused = 'inline' }: { io?: 'input' | 'output'; reused?: 'ref' | 'inline' } = {},
): JsonSchema {
  let json: unknown
  try {
    json = z.toJSONSchema(schema, { io, reused, target: 'draft-2020-12' })
  } catch (cause) {
    throw new CausewayError('INVALID_APP', `schema that JSON Schema cannot express: ${owner}`, { cause })
  }
  const { $schema: _, ...rest } = tidy(json) as Record<string, unknown>
  return rest
}

/**
 * Without the noise that zod adds: bounds of safe integers, and a pattern where the format says it already. Several types
 * in one become `anyOf`, which also those read who know `type` as one word.
 */
function tidy(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy)
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(
    ([key, value]) =>
      !(key === 'minimum' && value === Number.MIN_SAFE_INTEGER) &&
      !(key === 'maximum' && value === Number.MAX_SAFE_INTEGER) &&
      !(key === 'pattern' && 'format' in node),
  )
  return Object.fromEntries(
    kept.map(([key, value]) =>
      key === 'type' && isUnion(value) ? ['anyOf', value.map((type) => ({ type }))] : [key, tidy(value)],
    ),
  )
}

/** True for several types of which `null` is not the only other one. */
const isUnion = (type: unknown): type is readonly string[] =>
  Array.isArray(type) && type.filter((one) => one !== 'null').length > 1
