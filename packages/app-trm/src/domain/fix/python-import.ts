/** The imports of a Python module, and changes of them. */
import { parser } from '@lezer/python'
import type { Edit } from '../candidate/types.ts'

/** One import statement at the top level. */
export interface ImportStatement {
  /** First and last line, from 1. */
  readonly first: number
  readonly last: number
  readonly text: string
  /** The module of `from module import …`. */
  readonly module: string | undefined
  readonly isFuture: boolean
}

/** What a module begins with, and what it defines. */
export interface ModuleOutline {
  readonly imports: readonly ImportStatement[]
  /** Last line of the docstring; 0 without one. */
  readonly docstringEnd: number
  /** Names that the top level defines by `def`, `class` or assignment. */
  readonly definitions: readonly string[]
}

/** Reads a Python module; a text that cannot be parsed gives what can be seen. */
export function moduleOutline(text: string): ModuleOutline {
  const lineOf = lineFinder(text)
  const imports: ImportStatement[] = []
  const definitions: string[] = []
  let docstringEnd = 0
  let isFirst = true
  for (let node = parser.parse(text).topNode.firstChild; node; node = node.nextSibling) {
    const source = text.slice(node.from, node.to)
    if (node.name === 'ImportStatement')
      imports.push(importOf(source, lineOf(node.from), lineOf(node.to - 1)))
    else if (isFirst && node.name === 'ExpressionStatement' && node.firstChild?.name === 'String') {
      docstringEnd = lineOf(node.to - 1)
    } else {
      const name = /^(?:\w+\s+)??(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=]+)?=(?!=)/.exec(
        source.replace(/^(@.*\n\s*)+/, ''),
      )
      if (name) definitions.push(name[1] ?? name[2] ?? '')
    }
    if (node.name !== 'Comment') isFirst = false
  }
  return { imports, docstringEnd, definitions }
}

function importOf(text: string, first: number, last: number): ImportStatement {
  const module = /^from\s+(\S+)\s+import/.exec(text)?.[1]
  return { first, last, text, module, isFuture: module === '__future__' }
}

/** The edit that adds an import: after the last one, else after the docstring, else at the top. */
export function addImport(text: string, statement: string): Edit {
  const { imports, docstringEnd } = moduleOutline(text)
  const last = imports.at(-1)
  if (last) return { type: 'insertAfter', line: last.last, content: statement }
  const isComment = (line: string | undefined) => line?.startsWith('#') === true
  const lines = text.split(/\r?\n/)
  let line = docstringEnd
  while (docstringEnd === 0 && isComment(lines[line])) line++
  const gap = docstringEnd > 0 ? `\n${statement}` : statement
  const isTight = (lines[line] ?? '').trim() !== ''
  return { type: 'insertAfter', line, content: isTight ? `${gap}\n\n` : gap }
}

/** The edit that takes a name out of the imports at a line; undefined where it is not one of them. */
export function removeImport(text: string, line: number, name: string): Edit | undefined {
  const found = moduleOutline(text).imports.find(({ first, last }) => first <= line && line <= last)
  if (found === undefined || /[#\\]/.test(found.text)) return undefined
  const [, head = '', list = ''] =
    /^(from\s+\S+\s+import|import)\s+\(?([\s\S]*?)\)?$/.exec(found.text.trim()) ?? []
  const names = list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const kept = names.filter((one) => !isName(one, name, found.module))
  if (kept.length !== names.length - 1) return undefined
  if (kept.length === 0) return { type: 'deleteRange', startLine: found.first, endLine: found.last }
  const isMany = found.last > found.first
  const content = isMany
    ? `${head} (\n${kept.map((one) => `    ${one},\n`).join('')})`
    : `${head} ${kept.join(', ')}`
  return { type: 'replaceRange', startLine: found.first, endLine: found.last, content }
}

/** flake8 names what is unused as `a.b`, `a.b as c` or, of a from-import, `module.name`. */
function isName(one: string, name: string, module: string | undefined): boolean {
  const plain = one.replace(/\s+/g, ' ')
  const full = module === undefined ? plain : `${module}.${plain}`
  return plain === name || full === name || plain.split(' as ').at(-1) === name
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1
}
