/** What a Python module looks like to a reader: sizes, branches, and habits that bite in data analysis. */
import { parser } from '@lezer/python'
import type { Finding } from './finding.ts'

type Node = ReturnType<ReturnType<typeof parser.parse>['topNode']['cursor']>['node']

/** Findings of a module, in its order. */
export function pythonFindings(source: string): readonly Finding[] {
  // Same length, and the grammar wants LF.
  const text = source.replaceAll('\r', ' ')
  const lineOf = lineFinder(text)
  const findings: Finding[] = []
  const add = (node: Node, category: Finding['category'], issue: string, suggestedFix: string) =>
    findings.push({ line: lineOf(node.from), category, issue, suggestedFix })
  const code = (node: Node | null) => (node ? text.slice(node.from, node.to) : '')
  const visit = (node: Node): void => {
    if (node.name === 'FunctionDefinition') inspectFunction(node, { text, lineOf, add })
    if (node.name === 'TryStatement') {
      for (const part of node.getChildren('except')) {
        if (part.nextSibling?.name === 'Body')
          add(part, 'error-handling', 'a bare except catches interrupts and exits too', 'name the exceptions')
      }
    }
    if (node.name === 'AssignStatement' && /\][\s\n]*\[[^[\]]+\]\s*$/.test(code(node.firstChild))) {
      if (/^\w*df\w*\[/i.test(code(node.firstChild)))
        add(node, 'data-validation', 'chained assignment may change a copy', 'assign with .loc[rows, column]')
    }
    if (node.name === 'CallExpression') {
      const callee = code(node.firstChild)
      const args = code(node.getChild('ArgList'))
      if (/\.iterrows$/.test(callee))
        add(node, 'performance', 'iterrows visits row by row', 'use vectorised operations or itertuples')
      if (/inplace\s*=\s*True/.test(args))
        add(node, 'data-validation', 'inplace=True hides the change and saves nothing', 'assign the result')
    }
    for (let child = node.firstChild; child; child = child.nextSibling) visit(child)
  }
  visit(parser.parse(text).topNode)
  const lines = text.split('\n').length
  if (lines > 500) {
    findings.push({
      line: 1,
      category: 'size',
      issue: `the module has ${lines} lines`,
      suggestedFix: 'split it by concept',
    })
  }
  return findings.toSorted((a, b) => a.line - b.line)
}

interface Inspection {
  readonly text: string
  readonly lineOf: (offset: number) => number
  readonly add: (node: Node, category: Finding['category'], issue: string, suggestedFix: string) => void
}

function inspectFunction(node: Node, { text, lineOf, add }: Inspection): void {
  const name = node.getChild('VariableName')
  const called = name ? text.slice(name.from, name.to) : 'function'
  const body = node.getChild('Body')
  const params = node.getChild('ParamList')
  const lines = lineOf(node.to - 1) - lineOf(node.from) + 1
  const complexity = 1 + count(body, branches)
  const deepest = depth(body)
  if (complexity > 10)
    add(
      node,
      'complexity',
      `${called} has a complexity of ${complexity}`,
      'split it where a comment would stand',
    )
  if (deepest > 4)
    add(
      node,
      'complexity',
      `${called} is nested ${deepest} deep`,
      'return early, or move the inner block out',
    )
  if (lines > 100) add(node, 'size', `${called} has ${lines} lines`, 'split it')
  for (const child of params ? children(params) : []) {
    const isDefault = child.prevSibling?.name === 'AssignOp'
    if (isDefault && /^(Array|Dictionary|Set)Expression$/.test(child.name))
      add(
        child,
        'error-handling',
        `a default of ${called} is shared by all calls`,
        'default to None and make it inside',
      )
  }
  if (called.startsWith('_')) return
  const isTyped = node.getChild('TypeDef') !== null
  const isDocumented = body?.getChild('ExpressionStatement')?.getChild('String') != null
  if (!isTyped) add(node, 'type-safety', `${called} has no return type`, 'annotate parameters and result')
  if (!isDocumented && lines > 5)
    add(node, 'documentation', `${called} has no docstring`, 'say in one sentence what it returns')
}

const branches =
  /^(IfStatement|ForStatement|WhileStatement|ConditionalExpression|elif|except|and|or|MatchClause|\w*ComprehensionExpression)$/
const nesting = /^(IfStatement|ForStatement|WhileStatement|TryStatement|WithStatement|MatchStatement)$/

function count(node: Node | null, kinds: RegExp): number {
  if (node === null || node.name === 'FunctionDefinition') return 0
  return children(node).reduce((sum, child) => sum + count(child, kinds), kinds.test(node.name) ? 1 : 0)
}

function depth(node: Node | null): number {
  if (node === null || node.name === 'FunctionDefinition') return 0
  const below = Math.max(0, ...children(node).map(depth))
  return below + (nesting.test(node.name) ? 1 : 0)
}

function children(node: Node): Node[] {
  const found: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child)
  return found
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let [low, high] = [0, starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
