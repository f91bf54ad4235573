import { asObject, isObject } from '@causeway/protocol'
import { encodeFieldValue, type Fields } from './headers.ts'

export interface ParamHeader {
  readonly field: string
  readonly path: readonly string[]
}

/**
 * Returns the valid `x-mcp-header` annotations of an input schema
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports).
 */
export function parseParamHeaders(schema: unknown): ParamHeader[] {
  return [...findAnnotations(schema, [])].flatMap(({ header, type, path }) =>
    isToken(header) && simpleTypes.has(type) ? [{ field: `mcp-param-${header.toLowerCase()}`, path }] : [],
  )
}

/** Returns why a client must not offer a tool with this input schema. */
export function findParamHeaderFault(schema: unknown): string | undefined {
  const seenNames = new Set<string>()
  let headerCount = 0
  for (const { header, type, path } of findAnnotations(schema, [])) {
    headerCount += 1
    const label = `x-mcp-header of ${path.join('.')}`
    if (!isToken(header)) return `${label} is not the name of a header`
    if (!simpleTypes.has(type)) return `${label} annotates a value that is not a string, integer or boolean`
    if (seenNames.has(header.toLowerCase())) return `${label} is used twice`
    seenNames.add(header.toLowerCase())
  }
  return countAnnotations(schema) > headerCount
    ? 'x-mcp-header annotates a value without a fixed path'
    : undefined
}

interface Annotation {
  readonly header: unknown
  readonly type: unknown
  readonly path: readonly string[]
}

/** Searches only `properties`, because values of other nested schemas have no fixed path in the arguments. */
function* findAnnotations(schema: unknown, path: readonly string[]): Generator<Annotation> {
  if (path.length > maxDepth) return
  for (const [name, property] of Object.entries(asObject(asObject(schema).properties))) {
    const propertyPath = [...path, name]
    if (isAnnotated(property)) yield { header: property[annotation], type: property.type, path: propertyPath }
    yield* findAnnotations(property, propertyPath)
  }
}

function countAnnotations(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > 2 * maxDepth) return 0
  let sum = isAnnotated(value) && typeof value[annotation] !== 'object' ? 1 : 0
  for (const member of Object.values(value)) sum += countAnnotations(member, depth + 1)
  return sum
}

const annotation = 'x-mcp-header'

type Annotated = { readonly [annotation]: unknown; readonly type?: unknown }

const isAnnotated = (value: unknown): value is Annotated =>
  isObject(value) && Object.hasOwn(value, annotation)

const maxDepth = 32

/** RFC 9110, section 5.6.2. */
const isToken = (header: unknown): header is string =>
  typeof header === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header)

const simpleTypes = new Set<unknown>(['string', 'integer', 'boolean'])

/** Absent, null and complex arguments have no header. */
export function createParamFields(headers: readonly ParamHeader[], args: unknown): Fields {
  const fields: Fields = {}
  for (const { field, path } of headers) {
    const text = formatValue(path.reduce(getMember, args))
    if (text !== undefined) fields[field] = encodeFieldValue(text)
  }
  return fields
}

const getMember = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

function formatValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return Number.isSafeInteger(value) || (typeof value === 'number' && !Number.isInteger(value))
    ? String(value)
    : undefined
}
