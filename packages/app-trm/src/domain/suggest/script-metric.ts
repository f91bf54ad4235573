/** What a JavaScript module looks like to a reader; TypeScript is left to its own tools. */
import { type Node, parse } from 'acorn'
import type { Finding } from './finding.ts'

/** Findings of a module, in its order; none where it cannot be parsed. */
export function scriptFindings(text: string): readonly Finding[] {
  const findings: Finding[] = []
  const root = parsed(text)
  if (root === undefined) return findings
  const visit = (node: Node): void => {
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type))
      inspect(node, findings)
    if (node.type === 'CatchClause' && childrenOf(node).some((child) => isEmptyBlock(child))) {
      findings.push({
        line: lineOf(node),
        category: 'error-handling',
        issue: 'an error is caught and dropped',
        suggestedFix: 'handle it, or let it pass',
      })
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(root)
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

function parsed(text: string): Node | undefined {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parse(text, { ecmaVersion: 'latest', locations: true, allowHashBang: true, sourceType })
    } catch {
      // The other kind of source may fit.
    }
  }
  return undefined
}

function inspect(node: Node, findings: Finding[]): void {
  const add = (category: Finding['category'], issue: string, suggestedFix: string) =>
    findings.push({ line: lineOf(node), category, issue, suggestedFix })
  const complexity = 1 + childrenOf(node).reduce((sum, child) => sum + count(child), 0)
  const deepest = Math.max(0, ...childrenOf(node).map(depth))
  const lines = (node.loc?.end.line ?? 0) - lineOf(node) + 1
  if (complexity > 10)
    add('complexity', `a function has a complexity of ${complexity}`, 'split it where a comment would stand')
  if (deepest > 4)
    add('complexity', `a function is nested ${deepest} deep`, 'return early, or move the inner block out')
  if (lines > 100) add('size', `a function has ${lines} lines`, 'split it')
}

const branches =
  /^(IfStatement|For\w*Statement|WhileStatement|DoWhileStatement|ConditionalExpression|CatchClause|SwitchCase|LogicalExpression)$/
const nesting = /^(IfStatement|For\w*Statement|WhileStatement|DoWhileStatement|TryStatement|SwitchStatement)$/
const functions = /Function/

function count(node: Node): number {
  if (functions.test(node.type)) return 0
  return childrenOf(node).reduce((sum, child) => sum + count(child), branches.test(node.type) ? 1 : 0)
}

function depth(node: Node): number {
  if (functions.test(node.type)) return 0
  return Math.max(0, ...childrenOf(node).map(depth)) + (nesting.test(node.type) ? 1 : 0)
}

const lineOf = (node: Node): number => node.loc?.start.line ?? 1

function isEmptyBlock(node: Node): boolean {
  return node.type === 'BlockStatement' && childrenOf(node).length === 0
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode)
