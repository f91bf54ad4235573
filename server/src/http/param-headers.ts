/**
 * `Mcp-Param-*`: arguments that a tool marks with `x-mcp-header` in its input schema travel as headers too, so that what
 * stands between client and server can read them; both must agree
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports, custom headers from tool parameters).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { CausewayError, type JsonSchema } from '@causeway/protocol'

interface Declaration {
  /** Names of the properties that lead to the argument. */
  readonly path: readonly string[]
  /** `mcp-param-region` */
  readonly header: string
  readonly isNumber: boolean
}

/** A check of the headers of a call against its arguments; throws `HEADER_MISMATCH`. */
export type ParamHeaderCheck = (schema: JsonSchema, args: unknown, given: IncomingHttpHeaders) => void

/** Makes the check; each schema is searched once. */
export function paramHeaderCheck(): ParamHeaderCheck {
  const known = new WeakMap<JsonSchema, readonly Declaration[]>()
  return (schema, args, given) => {
    const declared = known.get(schema) ?? [...declarations(schema, [])]
    known.set(schema, declared)
    for (const declaration of declared) check(declaration, args, given)
  }
}

function* declarations(schema: JsonSchema, path: readonly string[]): Generator<Declaration> {
  const { 'x-mcp-header': name, type, properties } = schema
  if (typeof name === 'string' && path.length > 0)
    yield {
      path,
      header: `mcp-param-${name.toLowerCase()}`,
      isNumber: type === 'integer' || type === 'number',
    }
  for (const [key, property] of Object.entries((properties ?? {}) as Record<string, unknown>))
    if (typeof property === 'object' && property !== null)
      yield* declarations(property as JsonSchema, [...path, key])
}

function check({ path, header, isNumber }: Declaration, args: unknown, given: IncomingHttpHeaders): void {
  const value = valueAt(args, path)
  if (typeof value !== 'string' && typeof value !== 'boolean' && typeof value !== 'number') return
  const sent = given[header]
  if (typeof sent !== 'string') throw mismatch(header, path, 'is missing')
  const decoded = decode(sent)
  if (decoded === undefined) throw mismatch(header, path, 'is not in canonical Base64 of UTF-8')
  const agrees = isNumber && decimal.test(decoded) ? Number(decoded) === value : decoded === String(value)
  if (!agrees) throw mismatch(header, path, 'is another value than the argument')
}

const decimal = /^-?\d+(\.\d+)?$/
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The text of a header: as it is, or behind `=?base64?…?=` what plain ASCII cannot carry. */
function decode(sent: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(sent)?.[1]
  if (coded === undefined) return sent
  if (!base64.test(coded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(coded, 'base64'))
  } catch {
    return undefined
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value
  for (const key of path) at = (at as Record<string, unknown> | null | undefined)?.[key]
  return at
}

const mismatch = (header: string, path: readonly string[], problem: string): CausewayError =>
  new CausewayError('HEADER_MISMATCH', `the header ${header} ${problem}: ${path.join('.')}`, {
    data: { header, argument: path.join('.') },
  })
