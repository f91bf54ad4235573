import { parser } from '@lezer/python'
import type { Edit } from '../candidate/types.ts'

/** The start of a Python module and the names that it defines. */
export interface ModuleOutline {
  /** Last line of the last top-level import; 0 without one. */
  readonly importsEnd: number
  /** Last line of the docstring; 0 without one. */
  readonly docstringEnd: number
  /** Names that the top level defines by `def`, `class` or assignment. */
  readonly definitions: readonly string[]
}

/** Outlines a Python module; a text that cannot be parsed completely gives a partial outline. */
export function outlineModule(text: string): ModuleOutline {
  const definitions: string[] = []
  let [importsEnd, docstringEnd, isFirst] = [0, 0, true]
  for (let node = parser.parse(text).topNode.firstChild; node; node = node.nextSibling) {
    if (node.name === 'ImportStatement') importsEnd = node.to
    else if (isFirst && node.name === 'ExpressionStatement' && node.firstChild?.name === 'String')
      docstringEnd = node.to
    else {
      const source = text.slice(node.from, node.to).replace(/^(@.*\n\s*)+/, '')
      const name = /^(?:\w+\s+)??(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=]+)?=(?!=)/.exec(source)
      if (name) definitions.push(name[1] ?? name[2] ?? '')
    }
    if (node.name !== 'Comment') isFirst = false
  }
  const lineAt = (offset: number) => (offset === 0 ? 0 : text.slice(0, offset).split('\n').length)
  return { importsEnd: lineAt(importsEnd), docstringEnd: lineAt(docstringEnd), definitions }
}

/** Creates the edit that adds an import: after the last one, else after the docstring, else at the top. */
export function createImportEdit(text: string, statement: string): Edit {
  const { importsEnd, docstringEnd } = outlineModule(text)
  if (importsEnd > 0) return { type: 'insertAfter', line: importsEnd, content: statement }
  const lines = text.split(/\r?\n/)
  let line = docstringEnd
  while (docstringEnd === 0 && lines[line]?.startsWith('#')) line++
  const content = docstringEnd > 0 ? `\n${statement}` : statement
  const isTight = (lines[line] ?? '').trim() !== ''
  return { type: 'insertAfter', line, content: isTight ? `${content}\n\n` : content }
}
