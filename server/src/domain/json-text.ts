/**
 * JSON as a person wrote it, with comments and trailing commas where they are allowed (the JSONC of VS Code), read with the
 * place of everything in it, so that one value can be changed and every other character stays.
 */

/** A value and where it stands: from `start` to before `end`. */
export interface JsonNode {
  readonly start: number
  readonly end: number
  readonly value: unknown
  /** A comment stands inside. */
  readonly hasComment: boolean
  /** Of an object. */
  readonly members?: readonly JsonMember[]
  /** The last member is followed by a comma. */
  readonly endsInComma?: boolean
}

/** A member of an object. */
export interface JsonMember {
  readonly key: string
  readonly start: number
  readonly node: JsonNode
}

/** Where a text stops being JSON; lines and columns count from 1. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem'
  readonly line: number
  readonly column: number

  constructor(what: string, text: string, at: number) {
    const before = text.slice(0, at).split('\n')
    super(`${what} in line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`)
    this.line = before.length
    this.column = (before.at(-1)?.length ?? 0) + 1
  }
}

/** How deep values may stand in each other. */
const deepest = 500

/** Reads the text; throws `JsonProblem`. Of a key that an object has twice, the last one counts, as for JSON.parse. */
export function readJsonText(text: string, { comments }: { readonly comments: boolean }): JsonNode {
  const scan = { text, comments, at: text.startsWith('\uFEFF') ? 1 : 0, seen: 0 }
  skip(scan)
  const node = readValue(scan, 0)
  skip(scan)
  if (scan.at < text.length) throw new JsonProblem('there is more after the end', text, scan.at)
  return node
}

interface Scan {
  readonly text: string
  readonly comments: boolean
  at: number
  /** Comments that were passed. */
  seen: number
}

const blank = /[ \t\r\n]*/y
const comment = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in a string
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

function match(pattern: RegExp, scan: Scan): string | undefined {
  pattern.lastIndex = scan.at
  const [found] = pattern.exec(scan.text) ?? []
  if (found !== undefined) scan.at += found.length
  return found
}

/** Passes blanks, and comments where they are allowed. */
function skip(scan: Scan): void {
  match(blank, scan)
  while (scan.text[scan.at] === '/') {
    if (!scan.comments) throw new JsonProblem('there is a comment', scan.text, scan.at)
    if (match(comment, scan) === undefined)
      throw new JsonProblem('a comment does not end', scan.text, scan.at)
    scan.seen += 1
    match(blank, scan)
  }
}

function readValue(scan: Scan, depth: number): JsonNode {
  const { at: start, seen, text } = scan
  if (depth > deepest) throw new JsonProblem('values stand too deep in each other', text, start)
  if (text[start] === '{') return readObject(scan, depth)
  if (text[start] === '[') return readArray(scan, depth)
  const found = match(string, scan) ?? match(plain, scan)
  if (found === undefined) throw new JsonProblem('a value is missing', text, start)
  return { start, end: scan.at, value: JSON.parse(found), hasComment: scan.seen > seen }
}

function readObject(scan: Scan, depth: number): JsonNode {
  const { at: start, seen } = scan
  const members: JsonMember[] = []
  const endsInComma = readList(scan, '}', () => {
    const from = scan.at
    const key = match(string, scan)
    if (key === undefined) throw new JsonProblem('a name in quotes is missing', scan.text, scan.at)
    skip(scan)
    if (scan.text[scan.at] !== ':') throw new JsonProblem('a colon is missing', scan.text, scan.at)
    scan.at += 1
    skip(scan)
    members.push({ key: JSON.parse(key) as string, start: from, node: readValue(scan, depth + 1) })
  })
  const value = Object.fromEntries(members.map(({ key, node }) => [key, node.value]))
  return { start, end: scan.at, value, hasComment: scan.seen > seen, members, endsInComma }
}

function readArray(scan: Scan, depth: number): JsonNode {
  const { at: start, seen } = scan
  const value: unknown[] = []
  readList(scan, ']', () => void value.push(readValue(scan, depth + 1).value))
  return { start, end: scan.at, value, hasComment: scan.seen > seen }
}

/** What stands between brackets, divided by commas; true where a comma stands before the end. */
function readList(scan: Scan, end: '}' | ']', readOne: () => void): boolean {
  scan.at += 1
  skip(scan)
  let endsInComma = false
  for (let isFirst = true; scan.text[scan.at] !== end; isFirst = false) {
    if (!isFirst && !endsInComma) throw new JsonProblem(`a comma or ${end} is missing`, scan.text, scan.at)
    readOne()
    skip(scan)
    endsInComma = scan.text[scan.at] === ','
    if (!endsInComma) continue
    const at = scan.at
    scan.at += 1
    skip(scan)
    if (scan.text[scan.at] === end && !scan.comments)
      throw new JsonProblem(`a comma stands before ${end}`, scan.text, at)
  }
  scan.at += 1
  return endsInComma
}
