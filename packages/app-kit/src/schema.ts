import { CausewayError, type JsonSchema } from '@causeway/protocol'
import { z } from 'zod'

export type Shape = z.ZodRawShape

/**
 * Returns a JSON Schema (2020-12) that forbids additional properties. Throws `INVALID_APP` for types that JSON Schema
 * cannot express, and for arguments without a description.
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
 * Returns a JSON Schema (2020-12) that allows additional properties, so that new fields do not break older clients.
 * Throws `INVALID_APP` for types that JSON Schema cannot express.
 */
export function outputSchema(owner: string, shape: Shape): JsonSchema {
  // Rejects transforms: one tool with a transform would hide all tools in older clients.
  convert(owner, z.object(shape), { io: 'output' })
  return convert(owner, z.object(shape), { reused: 'ref' })
}

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
  const { $schema: _, ...jsonSchema } = simplify(json) as Record<string, unknown>
  return jsonSchema
}

/**
 * Removes bounds of safe integers, patterns that repeat a `format`, and keywords that allow everything. Replaces
 * lists of types with `anyOf`, which more clients support.
 */
function simplify(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(simplify)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).filter(
    ([key, value]) =>
      !(key === 'minimum' && value === Number.MIN_SAFE_INTEGER) &&
      !(key === 'maximum' && value === Number.MAX_SAFE_INTEGER) &&
      !(key === 'pattern' && 'format' in node) &&
      !(key === 'propertyNames' && isEqual(value, { type: 'string' })) &&
      !(key === 'additionalProperties' && isEqual(value, {})),
  )
  return Object.fromEntries(
    entries.map(([key, value]) =>
      key === 'type' && isUnion(value) ? ['anyOf', value.map((type) => ({ type }))] : [key, simplify(value)],
    ),
  )
}

const isEqual = (value: unknown, other: object): boolean => JSON.stringify(value) === JSON.stringify(other)

const isUnion = (type: unknown): type is readonly string[] =>
  Array.isArray(type) && type.filter((member) => member !== 'null').length > 1
