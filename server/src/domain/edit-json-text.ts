/** Changes of one value in a JSON text that leave every other character as it is. */
import type { JsonNode } from './json-text.ts'

/** Why a value cannot be set without harm. */
export type Obstacle =
  /** What stands on the way is no object. */
  | { readonly kind: 'not-an-object'; readonly path: readonly string[] }
  /** Comments in the old value would be lost. */
  | { readonly kind: 'comments'; readonly path: readonly string[] }

/** The text with the value in place, or what keeps it from being put there. */
export type Edited =
  | { readonly text: string; readonly obstacle?: undefined }
  | { readonly text?: undefined; readonly obstacle: Obstacle }

/** The value at a path of names; undefined where there is none. */
export function valueAt(root: JsonNode, path: readonly string[]): JsonNode | undefined {
  let node: JsonNode | undefined = root
  for (const key of path) node = node?.members?.findLast((member) => member.key === key)?.node
  return node
}

/** Sets the value at a path of names, at least one; objects on the way that are missing are made. `root` is the read text. */
export function setValue(text: string, root: JsonNode, path: readonly string[], value: unknown): Edited {
  let object = root
  for (const [depth, key] of path.entries()) {
    if (object.members === undefined)
      return { obstacle: { kind: 'not-an-object', path: path.slice(0, depth) } }
    const member = object.members.findLast((one) => one.key === key)
    const rest = path.slice(depth + 1)
    if (member === undefined) return { text: insert(text, object, key, nested(rest, value)) }
    if (rest.length > 0) object = member.node
    else if (member.node.hasComment) return { obstacle: { kind: 'comments', path } }
    else return { text: replace(text, member.node, printed(text, value, indentAt(text, member.start))) }
  }
  return { text }
}

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight((inner, key) => ({ [key]: inner }), value)

const replace = (text: string, { start, end }: JsonNode, by: string): string =>
  text.slice(0, start) + by + text.slice(end)

/** Adds a member after the last one and whatever is said behind it, on a line of its own. */
function insert(text: string, object: JsonNode, key: string, value: unknown): string {
  const { members = [], endsInComma = false } = object
  const last = members.at(-1)
  const closing = object.end - 1
  const outer = indentAt(text, object.start)
  const indent = last === undefined ? outer + unitOf(text) : indentOf(text, last.start, outer)
  const eol = eolOf(text)
  const content = text.slice(object.start + 1, closing).trimEnd()
  const at = object.start + 1 + content.length
  const comma = last === undefined || endsInComma ? '' : ','
  const commaAt = last === undefined ? at : last.node.end
  return [
    text.slice(0, commaAt),
    comma,
    text.slice(commaAt, at),
    eol,
    indent,
    `${JSON.stringify(key)}: ${printed(text, value, indent)}`,
    endsInComma ? ',' : '',
    eol,
    outer,
    text.slice(closing),
  ].join('')
}

/** The value over several lines, in the manner of the text. */
const printed = (text: string, value: unknown, indent: string): string =>
  JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eolOf(text) + indent)

const eolOf = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n')

/** One step of indentation: that of the first line which begins with some; two blanks where none does. */
const unitOf = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '

/** The blanks that the line of this place begins with. */
function indentAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? ''
}

/** The indentation of a member that begins a line; else one step more than the object's. */
function indentOf(text: string, at: number, outer: string): string {
  const indent = indentAt(text, at)
  const start = text.lastIndexOf('\n', at - 1) + 1
  return start > 0 && start + indent.length === at ? indent : outer + unitOf(text)
}
