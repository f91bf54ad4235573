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
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). Only properties of properties count, of
 * the three simple types and under a name that is an HTTP token; the others are left to the server to complain about.
 */
export function paramHeaders(schema: unknown, path: readonly string[] = []): ParamHeader[] {
  const { properties } = (schema ?? {}) as { properties?: unknown }
  if (typeof properties !== 'object' || properties === null || path.length > deepest) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const { 'x-mcp-header': header, type } = (property ?? {}) as { 'x-mcp-header'?: unknown; type?: unknown }
    const here = [...path, name]
    const own =
      typeof header === 'string' && token.test(header) && simpleTypes.has(type)
        ? [{ field: `mcp-param-${header.toLowerCase()}`, path: here }]
        : []
    return [...own, ...paramHeaders(property, here)]
  })
}

/** Arguments are never this deep; a schema that is must not exhaust the stack. */
const deepest = 32

/** An HTTP token (RFC 9110 section 5.6.2). */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

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
