/** Arguments for a tool: of its JSON Schema and its example, then broken in some places. */
import type { JsonSchema } from '@causeway/protocol'
import type { Random } from '../random.ts'
import { nasty, nastyName, nastyNumber, nastyText, type Traps } from './nasty.ts'

/** A tool as its app declares it. */
export interface FuzzTool {
  readonly app: string
  readonly name: string
  readonly schema: JsonSchema
  readonly example: Readonly<Record<string, unknown>>
  /** Values that arguments of this name have in examples of the app, and ids of what was made for the run. */
  readonly known: ReadonlyMap<string, readonly unknown[]>
}

type Schema = Readonly<Record<string, unknown>>

const deepest = 6

/** Arguments for one call. One in six is as good as the generator can make it, so that calls get past the checks. */
export function toolInput(tool: FuzzTool, random: Random, traps: Traps): unknown {
  const given = random.below(3) === 0 ? sampled(tool, random, traps) : mixed(tool, random, traps)
  const faults = random.pick([0, 1, 1, 1, 2, 3])
  let args: unknown = given
  for (let fault = 0; fault < faults; fault += 1) args = broken(args, tool, random, traps)
  return args
}

/** The example, with some arguments of other calls or of the schema. */
function mixed(tool: FuzzTool, random: Random, traps: Traps): Record<string, unknown> {
  const args: Record<string, unknown> = { ...tool.example }
  for (const [name, schema] of Object.entries(propertiesOf(tool.schema)))
    if (random.below(4) === 0) args[name] = argument(tool, { name, schema }, random, traps)
  return args
}

/** Of the schema alone: all that is required, and some of the rest. */
function sampled(tool: FuzzTool, random: Random, traps: Traps): Record<string, unknown> {
  const required = new Set(tool.schema.required as readonly string[] | undefined)
  const args: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(propertiesOf(tool.schema)))
    if (required.has(name) || random.below(3) === 0)
      args[name] = argument(tool, { name, schema }, random, traps)
  return args
}

function argument(
  { known }: FuzzTool,
  { name, schema }: { readonly name: string; readonly schema: Schema },
  random: Random,
  traps: Traps,
): unknown {
  const values = known.get(name)
  if (values !== undefined && random.below(3) > 0) return random.pick(values)
  return sample(schema, random, traps, 0)
}

/** A value that the schema allows, or nearly: edges are hit and missed by one. */
function sample(schema: Schema, random: Random, traps: Traps, depth: number): unknown {
  const again = (one: unknown): unknown =>
    depth > deepest ? null : sample((one ?? {}) as Schema, random, traps, depth + 1)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined
  if (choices !== undefined) return again(random.pick(choices))
  const types = [(schema.type ?? 'any') as string | readonly string[]].flat()
  switch (random.pick(types)) {
    case 'string':
      return textOf(schema, random, traps)
    case 'integer':
    case 'number':
      return numberOf(schema, random)
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
      const members = Object.entries(propertiesOf(schema)).filter(() => random.below(4) > 0)
      return Object.fromEntries(members.map(([name, one]) => [name, again(one)]))
    }
    default:
      return nasty(random, traps)
  }
}

function textOf({ minLength = 0, maxLength }: Schema, random: Random, traps: Traps): string {
  const least = minLength as number // of the schema
  const most = maxLength as number | undefined
  return random.pick([
    () => 'x'.repeat(least),
    () => 'x'.repeat(Math.max(0, least - 1)),
    () => 'é'.repeat(Math.min(most ?? 100, 20_000)),
    () => 'x'.repeat(Math.min(most ?? 100, 20_000) + 1),
    () => nastyText(random, traps),
    () => nastyText(random, traps),
    () => random.pick(['1', 'floor', 'a', '2024-01-01T00:00:00Z', 'body.1.speed', 'body 2', 'sums.py']),
  ])()
}

function numberOf({ minimum, maximum, exclusiveMinimum }: Schema, random: Random): unknown {
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

/** The value with one place in it spoilt. */
function broken(value: unknown, tool: FuzzTool, random: Random, traps: Traps): unknown {
  if (random.below(25) === 0) return nasty(random, traps)
  if (Array.isArray(value) && value.length > 0) {
    const at = random.below(value.length)
    return value.map((one, place) => (place === at ? spoilt(one, tool, random, traps) : one))
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
  const all = [...present, ...Object.keys(propertiesOf(tool.schema))]
  const chance = random.below(8)
  if (chance === 0) set(nastyName(random, traps), nasty(random, traps))
  else if (chance === 1 && present.length > 0) delete copy[random.pick(present)]
  else if (all.length > 0) {
    const name = random.pick(all)
    set(name, spoilt(copy[name], tool, random, traps))
  }
  return copy
}

/** Goes down into what it finds half of the time, so that faults reach every depth. */
const spoilt = (value: unknown, tool: FuzzTool, random: Random, traps: Traps): unknown =>
  value !== null && typeof value === 'object' && random.below(2) === 0
    ? broken(value, tool, random, traps)
    : nasty(random, traps)

const propertiesOf = (schema: Schema): Readonly<Record<string, Schema>> =>
  (schema.properties ?? {}) as Readonly<Record<string, Schema>>
