import { type Fields, fieldValue } from './headers.ts'

/** An argument that a tool wants to see in a header as well. */
export interface ParamHeader {
  /** Lower-case field name. */
  readonly field: string
  /** Where the value stands in the arguments. */
  readonly path: readonly string[]
}

/**
 * The `x-mcp-header` annotations of an input schema
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). Of a faulty one nothing is told here:
 * `paramHeaderFault` finds it.
 */
export function paramHeaders(schema: unknown): ParamHeader[] {
  return [...annotations(schema, [])].flatMap(({ header, type, path }) =>
    isToken(header) && simpleTypes.has(type) ? [{ field: `mcp-param-${header.toLowerCase()}`, path }] : [],
  )
}

/**
 * What makes a tool with this input schema one that a client must not offer, in words: an annotation that is no HTTP
 * token, is used twice, stands on a value that is not simple, or on one that is not always at the same place.
 */
export function paramHeaderFault(schema: unknown): string | undefined {
  const seen = new Set<string>()
  let found = 0
  for (const { header, type, path } of annotations(schema, [])) {
    found += 1
    const where = `x-mcp-header of ${path.join('.')}`
    if (!isToken(header)) return `${where} is not the name of a header`
    if (!simpleTypes.has(type)) return `${where} stands on a value that is not a string, integer or boolean`
    if (seen.has(header.toLowerCase())) return `${where} is used twice`
    seen.add(header.toLowerCase())
  }
  return count(schema) > found ? 'x-mcp-header stands where the argument is not always found' : undefined
}

interface Annotation {
  readonly header: unknown
  readonly type: unknown
  readonly path: readonly string[]
}

/** Those of properties of properties: what stands elsewhere has no one place in the arguments. */
function* annotations(schema: unknown, path: readonly string[]): Generator<Annotation> {
  const { properties } = (schema ?? {}) as { properties?: unknown }
  if (typeof properties !== 'object' || properties === null || path.length > deepest) return
  for (const [name, property] of Object.entries(properties)) {
    const here = [...path, name]
    if (isAnnotated(property)) yield { header: property[annotation], type: property.type, path: here }
    yield* annotations(property, here)
  }
}

/** How many annotations there are, wherever they stand. */
function count(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > 2 * deepest) return 0
  let sum = isAnnotated(value) && typeof value[annotation] !== 'object' ? 1 : 0
  for (const member of Object.values(value)) sum += count(member, depth + 1)
  return sum
}

const annotation = 'x-mcp-header'

type Annotated = { readonly [annotation]: unknown; readonly type?: unknown }

const isAnnotated = (value: unknown): value is Annotated =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, annotation)

/** Arguments are never this deep; a schema that is must not exhaust the stack. */
const deepest = 32

/** An HTTP token (RFC 9110 section 5.6.2). */
const isToken = (header: unknown): header is string =>
  typeof header === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header)

const simpleTypes = new Set<unknown>(['string', 'integer', 'boolean'])

/** The fields for these arguments; an argument that is absent, null or of another type has none. */
export function paramFields(headers: readonly ParamHeader[], given: unknown): Fields {
  const fields: Fields = {}
  for (const { field, path } of headers) {
    const text = textOf(path.reduce(memberOf, given))
    if (text !== undefined) fields[field] = fieldValue(text)
  }
  return fields
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return Number.isSafeInteger(value) || (typeof value === 'number' && !Number.isInteger(value))
    ? String(value)
    : undefined
}
