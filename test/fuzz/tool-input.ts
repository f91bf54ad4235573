/** Generates arguments for a tool from its JSON Schema and its example, with random faults. */
import type { JsonSchema } from '@causeway/protocol'
import type { Random } from '../random.ts'
import { nasty, nastyName, nastyNumber, nastyText, type Traps } from './nasty.ts'

/** The declaration of a tool. */
export interface FuzzTool {
  readonly app: string
  readonly name: string
  readonly schema: JsonSchema
  readonly example: Readonly<Record<string, unknown>>
  /** Values by argument name, from the examples of the app and of objects that exist in the run. */
  readonly known: ReadonlyMap<string, readonly unknown[]>
}

type Schema = Readonly<Record<string, unknown>>

const maxDepth = 6

/** Generates arguments for a call. One in six has no fault, so that it passes validation. */
export function makeToolInput(tool: FuzzTool, random: Random, traps: Traps): unknown {
  const given = random.below(3) === 0 ? fromSchema(tool, random, traps) : fromExample(tool, random, traps)
  const faults = random.pick([0, 1, 1, 1, 2, 3])
  let args: unknown = given
  for (let fault = 0; fault < faults; fault += 1) args = addFault(args, tool, random, traps)
  return args
}

/** Returns the example with some arguments from other calls or from the schema. */
function fromExample(tool: FuzzTool, random: Random, traps: Traps): Record<string, unknown> {
  const args: Record<string, unknown> = { ...tool.example }
  for (const [name, schema] of Object.entries(getProperties(tool.schema)))
    if (random.below(4) === 0) args[name] = makeArgument(tool, { name, schema }, random, traps)
  return args
}

/** Generates all required and some optional arguments from the schema. */
function fromSchema(tool: FuzzTool, random: Random, traps: Traps): Record<string, unknown> {
  const required = new Set(tool.schema.required as readonly string[] | undefined)
  const args: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(getProperties(tool.schema)))
    if (required.has(name) || random.below(3) === 0)
      args[name] = makeArgument(tool, { name, schema }, random, traps)
  return args
}

function makeArgument(
  { known }: FuzzTool,
  { name, schema }: { readonly name: string; readonly schema: Schema },
  random: Random,
  traps: Traps,
): unknown {
  const values = known.get(name)
  if (values !== undefined && random.below(3) > 0) return random.pick(values)
  return sample(schema, random, traps, 0)
}

/** Generates a value that the schema allows or that misses a bound by one. */
function sample(schema: Schema, random: Random, traps: Traps, depth: number): unknown {
  const again = (one: unknown): unknown =>
    depth > maxDepth ? null : sample((one ?? {}) as Schema, random, traps, depth + 1)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined
  if (choices !== undefined) return again(random.pick(choices))
  const types = [(schema.type ?? 'any') as string | readonly string[]].flat()
  switch (random.pick(types)) {
    case 'string':
      return makeText(schema, random, traps)
    case 'integer':
    case 'number':
      return makeNumber(schema, random)
    case 'boolean':
      return random.below(2) === 0
    case 'null':
      return null
    case 'array': {
      const { minItems = 0, maxItems } = schema as { minItems?: number; maxItems?: number }
      const length = random.pick([
        minItems,
        minItems + 1,
        Math.min(maxItems ?? 4, 60),
        Math.max(0, minItems - 1),
      ])
      return Array.from({ length }, () => again(schema.items))
    }
    case 'object': {
      const members = Object.entries(getProperties(schema)).filter(() => random.below(4) > 0)
      return Object.fromEntries(members.map(([name, one]) => [name, again(one)]))
    }
    default:
      return nasty(random, traps)
  }
}

function makeText({ minLength = 0, maxLength }: Schema, random: Random, traps: Traps): string {
  const shortest = minLength as number // validated by JSON Schema
  const longest = maxLength as number | undefined
  return random.pick([
    () => 'x'.repeat(shortest),
    () => 'x'.repeat(Math.max(0, shortest - 1)),
    () => 'é'.repeat(Math.min(longest ?? 100, 20_000)),
    () => 'x'.repeat(Math.min(longest ?? 100, 20_000) + 1),
    () => nastyText(random, traps),
    () => nastyText(random, traps),
    () => random.pick(['1', 'floor', 'a', '2024-01-01T00:00:00Z', 'body.1.speed', 'body 2', 'sums.py']),
  ])()
}

function makeNumber({ minimum, maximum, exclusiveMinimum }: Schema, random: Random): unknown {
  const edges = [minimum, maximum, exclusiveMinimum].filter(
    (edge): edge is number => typeof edge === 'number',
  )
  const near = edges.flatMap((edge) => [edge - 1, edge, edge + 1, edge + 0.5])
  return random.pick([
    () => random.pick([...near, 0, 1, 2, 3]),
    () => random.below(50),
    () => nastyNumber(random),
  ])()
}

/** Returns the value with one fault. */
function addFault(value: unknown, tool: FuzzTool, random: Random, traps: Traps): unknown {
  if (random.below(25) === 0) return nasty(random, traps)
  if (Array.isArray(value) && value.length > 0) {
    const at = random.below(value.length)
    return value.map((one, place) => (place === at ? replaceOrDescend(one, tool, random, traps) : one))
  }
  if (value === null || typeof value !== 'object') return nasty(random, traps)
  const copy: Record<string, unknown> = { ...value }
  const present = Object.keys(copy)
  const set = (name: string, one: unknown): void =>
    void Object.defineProperty(copy, name, {
      value: one,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  const all = [...present, ...Object.keys(getProperties(tool.schema))]
  const chance = random.below(8)
  if (chance === 0) set(nastyName(random, traps), nasty(random, traps))
  else if (chance === 1 && present.length > 0) delete copy[random.pick(present)]
  else if (all.length > 0) {
    const name = random.pick(all)
    set(name, replaceOrDescend(copy[name], tool, random, traps))
  }
  return copy
}

/** Adds the fault inside the value half of the time, so that faults occur at every depth. */
const replaceOrDescend = (value: unknown, tool: FuzzTool, random: Random, traps: Traps): unknown =>
  value !== null && typeof value === 'object' && random.below(2) === 0
    ? addFault(value, tool, random, traps)
    : nasty(random, traps)

const getProperties = (schema: Schema): Readonly<Record<string, Schema>> =>
  (schema.properties ?? {}) as Readonly<Record<string, Schema>>
