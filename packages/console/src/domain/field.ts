import type { Schema } from '../data/types.ts'

export type Field =
  | { readonly kind: 'text'; readonly isLong: boolean }
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly unknown[] }
  | { readonly kind: 'choices'; readonly values: readonly unknown[] }
  | { readonly kind: 'list'; readonly item: Schema; readonly max: number }
  | { readonly kind: 'object'; readonly properties: readonly Property[] }
  | { readonly kind: 'variants'; readonly variants: readonly Schema[] }
  | { readonly kind: 'json' }

export interface Property {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** Texts with a greater maximum length are edited in a text area. */
const minLongTextLength = 200

export type Definitions = Readonly<Record<string, Schema>>

/** Returns a `json` field for schemas that no other control supports. */
export function toField(schema: Schema, definitions: Definitions): Field {
  const resolvedSchema = resolve(schema, definitions)
  const { enum: values, const: constant } = resolvedSchema
  if (constant !== undefined) return { kind: 'choice', values: [constant] }
  if (values !== undefined) return { kind: 'choice', values }
  const options = (resolvedSchema.anyOf ?? resolvedSchema.oneOf)?.map((option) =>
    resolve(option, definitions),
  )
  if (options !== undefined)
    return toVariants(
      options.filter(({ type }) => type !== 'null'),
      definitions,
    )
  const types = [resolvedSchema.type ?? []].flat().filter((type) => type !== 'null')
  if (types.length !== 1) return { kind: 'json' }
  switch (types[0]) {
    case 'string':
      return { kind: 'text', isLong: (resolvedSchema.maxLength ?? 0) > minLongTextLength }
    case 'integer':
    case 'number':
      return toNumberField(resolvedSchema, types[0] === 'integer')
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return toListField(resolvedSchema, definitions)
    case 'object':
      return toObjectField(resolvedSchema)
    default:
      return { kind: 'json' }
  }
}

/** Follows `$ref`. A description and default next to it take precedence. */
export function resolve(schema: Schema, definitions: Definitions): Schema {
  const { $ref, ...rest } = schema
  const name = $ref?.replace('#/$defs/', '')
  const target = name === undefined ? undefined : definitions[name]
  return target === undefined ? schema : { ...target, ...rest }
}

function toVariants(options: readonly Schema[], definitions: Definitions): Field {
  const [singleOption] = options
  if (singleOption !== undefined && options.length === 1) return toField(singleOption, definitions)
  const areObjects = options.every(({ type, properties }) => type === 'object' && properties !== undefined)
  return areObjects ? { kind: 'variants', variants: options } : { kind: 'json' }
}

function toNumberField({ minimum, maximum }: Schema, isInteger: boolean): Field {
  return {
    kind: 'number',
    isInteger,
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  }
}

function toListField(
  { items, maxItems = Number.POSITIVE_INFINITY }: Schema,
  definitions: Definitions,
): Field {
  if (typeof items !== 'object') return { kind: 'json' }
  const { enum: values } = resolve(items, definitions)
  return values === undefined ? { kind: 'list', item: items, max: maxItems } : { kind: 'choices', values }
}

function toObjectField({ properties = {}, required = [], additionalProperties }: Schema): Field {
  const names = Object.entries(properties)
  if (names.length === 0 && additionalProperties !== false) return { kind: 'json' }
  return {
    kind: 'object',
    properties: names.map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) })),
  }
}

/** Returns the smallest valid value for a new entry. */
export function createValue(schema: Schema, definitions: Definitions): unknown {
  const field = toField(schema, definitions)
  switch (field.kind) {
    case 'text':
      return ''
    case 'number':
      return Math.max(0, field.min ?? 0)
    case 'boolean':
      return false
    case 'choice':
      return field.values[0]
    case 'choices':
    case 'list':
      return []
    case 'object':
      return createObject(field.properties, definitions)
    case 'variants':
      return createValue(field.variants[0] ?? {}, definitions)
    case 'json':
      return resolve(schema, definitions).type === 'array' ? [] : {}
  }
}

const createObject = (properties: readonly Property[], definitions: Definitions): object =>
  Object.fromEntries(
    properties
      .filter(({ isRequired }) => isRequired)
      .map(({ name, schema }) => [name, createValue(schema, definitions)]),
  )

/** Returns the index of the variant whose constants match a value, or 0. */
export function findVariant(variants: readonly Schema[], value: unknown): number {
  const variantIndex = variants.findIndex(({ properties = {} }) =>
    Object.entries(properties).every(
      ([name, { const: constant }]) =>
        constant === undefined || (value as Record<string, unknown> | null)?.[name] === constant,
    ),
  )
  return Math.max(0, variantIndex)
}

export function getVariantName({ title, properties = {} }: Schema, index: number): string {
  const constants = Object.values(properties).flatMap(({ const: constant }) =>
    constant === undefined ? [] : [constant],
  )
  return title ?? (constants.length > 0 ? constants.join(' ') : `Form ${index + 1}`)
}

/** Describes a schema in a few words: `integer, 1 to 200`. */
export function describeType(schema: Schema, definitions: Definitions): string {
  const { type, minimum, maximum, exclusiveMinimum, format } = resolve(schema, definitions)
  const types = [type ?? []].flat().filter((typeName) => typeName !== 'null')
  const bounds =
    minimum !== undefined && maximum !== undefined
      ? [`${minimum} to ${maximum}`]
      : [
          ...(minimum === undefined ? [] : [`at least ${minimum}`]),
          ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
          ...(maximum === undefined ? [] : [`at most ${maximum}`]),
        ]
  return [...types, ...(format === undefined ? [] : [format]), ...bounds].join(', ')
}

/** Returns a copy of an object with a property set, or removed if it is `undefined`. */
export function setProperty(value: unknown, name: string, property: unknown): Record<string, unknown> {
  const { [name]: _, ...rest } = (value ?? {}) as Record<string, unknown>
  if (property === undefined) return rest
  return value !== null && typeof value === 'object' && name in value
    ? { ...(value as object), [name]: property }
    : { ...rest, [name]: property }
}
