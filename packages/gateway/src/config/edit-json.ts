import {
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  stripComments,
} from 'jsonc-parser'

/** Thrown for invalid JSON, and for an edit that is impossible or would lose comments. */
export class JsonEditError extends Error {
  override readonly name = 'JsonEditError'
}

interface JsonSyntax {
  /** Whether comments and trailing commas are allowed. */
  readonly comments: boolean
}

/** Throws `JsonEditError` with line and column. */
export function readJsonValue(text: string, path: readonly string[], syntax: JsonSyntax): unknown {
  let node: Node | undefined = parse(text, syntax)
  for (const key of path) node = node && findProperty(node, key)?.value
  // getNodeValue returns objects without a prototype; the clone has one.
  return node && structuredClone(getNodeValue(node))
}

/**
 * Sets the value at a path of keys; preserves all other text. Throws `JsonEditError` if the text is invalid,
 * a parent is not an object, or the old value contains comments.
 */
export function setJsonValue(
  text: string,
  path: readonly string[],
  value: unknown,
  syntax: JsonSyntax,
): string {
  let object = parse(text, syntax)
  for (const [depth, key] of path.entries()) {
    if (object.type !== 'object')
      throw new JsonEditError(`${path.slice(0, depth).join('.') || 'the top level'} is not an object`)
    const rest = path.slice(depth + 1)
    const property = findProperty(object, key)
    if (property === undefined) {
      const nestedValue = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
      return insertProperty(text, object, key, nestedValue)
    }
    if (rest.length > 0) object = property.value
    else return replaceValue(text, property, path, value)
  }
  return text
}

/** Preserves all other text. Throws `JsonEditError` if the text is invalid. */
export function removeJsonValue(text: string, path: readonly string[], syntax: JsonSyntax): string {
  let object: Node | undefined = parse(text, syntax)
  for (const key of path.slice(0, -1)) object = object && findProperty(object, key)?.value
  const removedProperties =
    object?.children?.filter(({ children }) => children?.[0]?.value === path.at(-1)) ?? []
  // Starts at the end, so that earlier offsets stay valid.
  return removedProperties.toReversed().reduce((rest, node) => removeProperty(rest, node), text)
}

/** Also removes the comma (for the last property, the preceding one) and the emptied line. */
function removeProperty(text: string, { offset, length }: Node): string {
  let end = offset + length
  let start = offset
  const commaAfter = /^\s*,/.exec(text.slice(end))?.[0]
  if (commaAfter !== undefined) end += commaAfter.length
  else {
    const commaBefore = /,\s*$/.exec(text.slice(0, offset))?.[0]
    if (commaBefore !== undefined) return text.slice(0, offset - commaBefore.length) + text.slice(end)
  }
  const indent = /(?:^|\r?\n)[ \t]*$/.exec(text.slice(0, start))?.[0]
  if (indent !== undefined && /^[ \t]*(\r?\n|$)/.test(text.slice(end))) start -= indent.length
  return text.slice(0, start) + text.slice(end)
}

function parse(text: string, syntax: JsonSyntax): Node {
  const errors: ParseError[] = []
  const root = parseWithErrors(text, errors, syntax)
  const [error] = errors
  if (error === undefined && root !== undefined) return root
  const lines = text.slice(0, error?.offset).split('\n')
  // 'CommaExpected' becomes 'comma expected'.
  const problem = error && printParseErrorCode(error.error).replaceAll(/(?<=[a-z])[A-Z]/g, ' $&')
  throw new JsonEditError(
    `not valid JSON: ${problem?.toLowerCase()} in line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`,
  )
}

function parseWithErrors(text: string, errors: ParseError[], { comments }: JsonSyntax): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: !comments, allowTrailingComma: comments })
  } catch (error) {
    // jsonc-parser is recursive, so deep nesting overflows the stack.
    throw error instanceof RangeError ? new JsonEditError('not valid JSON: nested too deeply') : error
  }
}

interface Property {
  readonly offset: number
  readonly value: Node
}

/** The last of duplicate keys applies, as in `JSON.parse`. */
function findProperty(object: Node, name: string): Property | undefined {
  if (object.type !== 'object') return undefined
  const [key, value] =
    object.children?.findLast(({ children }) => children?.[0]?.value === name)?.children ?? []
  return key && value && { offset: key.offset, value }
}

function replaceValue(text: string, property: Property, path: readonly string[], value: unknown): string {
  const { offset, length } = property.value
  const oldText = text.slice(offset, offset + length)
  if (stripComments(oldText) !== oldText)
    throw new JsonEditError(`comments in ${path.join('.')} would be lost`)
  const indent = findIndentBefore(text, property.offset)
  return text.slice(0, offset) + format(text, value, indent) + text.slice(offset + length)
}

/** Inserts after the comments of the last property; `modify` of jsonc-parser inserts before them. */
function insertProperty(text: string, object: Node, key: string, value: unknown): string {
  const last = object.children?.at(-1)
  const start = object.offset + 1
  const closingOffset = object.offset + object.length - 1
  const contentEnd = start + text.slice(start, closingOffset).trimEnd().length
  const lastEnd = last === undefined ? contentEnd : last.offset + last.length
  const hasTrailingComma =
    last !== undefined && stripComments(text.slice(lastEnd, closingOffset)).includes(',')
  const objectIndent = findIndentBefore(text, object.offset)
  const indent =
    last === undefined
      ? objectIndent + findIndentUnit(text)
      : findPropertyIndent(text, last.offset, objectIndent)
  return [
    text.slice(0, lastEnd),
    last === undefined || hasTrailingComma ? '' : ',',
    text.slice(lastEnd, contentEnd),
    findLineBreak(text),
    indent,
    `${JSON.stringify(key)}: ${format(text, value, indent)}`,
    hasTrailingComma ? ',' : '',
    findLineBreak(text),
    objectIndent,
    text.slice(closingOffset),
  ].join('')
}

const format = (text: string, value: unknown, indent: string): string =>
  JSON.stringify(value, null, findIndentUnit(text)).replaceAll('\n', findLineBreak(text) + indent)

const findLineBreak = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n')

const findIndentUnit = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '

function findIndentBefore(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ''
}

function findPropertyIndent(text: string, offset: number, objectIndent: string): string {
  const indent = findIndentBefore(text, offset)
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return start > 0 && start + indent.length === offset ? indent : objectIndent + findIndentUnit(text)
}
