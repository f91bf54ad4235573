/**
 * Checks `Mcp-Param-*`: arguments with `x-mcp-header` in the schema are also sent as headers, for proxies
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { CausewayError, type JsonSchema } from '@causeway/protocol'

interface Declaration {
  readonly path: readonly string[]
  readonly header: string
  readonly isNumber: boolean
}

export class ParamHeaders {
  readonly #declarations = new WeakMap<JsonSchema, readonly Declaration[]>()

  check(schema: JsonSchema, args: unknown, headers: IncomingHttpHeaders): void {
    let declarations = this.#declarations.get(schema)
    if (declarations === undefined) {
      declarations = [...findDeclarations(schema, [])]
      this.#declarations.set(schema, declarations)
    }
    for (const declaration of declarations) checkHeader(declaration, args, headers)
  }
}

function* findDeclarations(schema: JsonSchema, path: readonly string[]): Generator<Declaration> {
  const { 'x-mcp-header': name, type, properties } = schema
  if (typeof name === 'string' && path.length > 0)
    yield {
      path,
      header: `mcp-param-${name.toLowerCase()}`,
      isNumber: type === 'integer' || type === 'number',
    }
  for (const [key, property] of Object.entries((properties ?? {}) as Record<string, unknown>))
    if (typeof property === 'object' && property !== null)
      yield* findDeclarations(property as JsonSchema, [...path, key])
}

function checkHeader(
  { path, header, isNumber }: Declaration,
  args: unknown,
  headers: IncomingHttpHeaders,
): void {
  const value = getValue(args, path)
  if (typeof value !== 'string' && typeof value !== 'boolean' && typeof value !== 'number') return
  const headerText = headers[header]
  if (typeof headerText !== 'string') throw createMismatchError(header, path, 'is missing')
  const decodedText = decode(headerText)
  if (decodedText === undefined)
    throw createMismatchError(header, path, 'is not in canonical Base64 of UTF-8')
  const isEqual =
    isNumber && decimalPattern.test(decodedText)
      ? Number(decodedText) === value
      : decodedText === String(value)
  if (!isEqual) throw createMismatchError(header, path, 'is another value than the argument')
}

const decimalPattern = /^-?\d+(\.\d+)?$/
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Decodes `=?base64?…?=`, which encodes text that is not ASCII. */
function decode(headerText: string): string | undefined {
  const base64Text = /^=\?base64\?(.*)\?=$/.exec(headerText)?.[1]
  if (base64Text === undefined) return headerText
  if (!base64Pattern.test(base64Text)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64Text, 'base64'))
  } catch {
    return undefined
  }
}

function getValue(value: unknown, path: readonly string[]): unknown {
  let current = value
  for (const key of path) current = (current as Record<string, unknown> | null | undefined)?.[key]
  return current
}

const createMismatchError = (header: string, path: readonly string[], problem: string): CausewayError =>
  new CausewayError('HEADER_MISMATCH', `the header ${header} ${problem}: ${path.join('.')}`, {
    data: { header, argument: path.join('.') },
  })
