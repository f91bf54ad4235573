import { createHash } from 'node:crypto'
import { stripTypeScriptTypes } from 'node:module'
import { type AnyNode, type Node, parse } from 'acorn'

export type Rule =
  | 'negated condition'
  | 'skipped exit'
  | 'flipped boolean'
  | 'off by one'
  | 'swapped min and max'
  | 'dropped await'

/** The order in which `selectMutants` takes turns. */
export const rules: readonly Rule[] = [
  'negated condition',
  'off by one',
  'dropped await',
  'flipped boolean',
  'skipped exit',
  'swapped min and max',
]

/** A small fault: in `file`, the characters from `start` to `end` are replaced. */
export interface Mutant {
  /** Depends on the file, the rule and the text of the line, but not on the line number. */
  readonly id: string
  readonly file: string
  readonly line: number
  readonly rule: Rule
  readonly start: number
  readonly end: number
  /** The line before and after the change, trimmed. */
  readonly before: string
  readonly after: string
  readonly replacement: string
  /** How the original expression is wrapped so that its evaluation is recorded. */
  readonly probe: 'and' | 'comma' | 'void'
}

/** A larger constant is a duration or a size: one more or less is not a fault that a caller can observe. */
const maxMutatedInteger = 99

/** Finds all places of a source file to which a rule applies, in source order. */
export function findMutants(file: string, source: string): Mutant[] {
  // Types are replaced by blanks, so that positions are those of the source.
  const program = parse(stripTypeScriptTypes(source), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
  })
  const occurrences = new Map<string, number>()
  const mutants: Mutant[] = []
  visit(program as AnyNode, undefined, (node, parent) => {
    for (const { rule, target, replacement, probe } of changes(node, parent, source)) {
      const { before, after } = changedLine(source, target, replacement)
      const key = [file, rule, before, after].join('\n')
      const occurrence = occurrences.get(key) ?? 0
      occurrences.set(key, occurrence + 1)
      mutants.push({
        id: digest(`${key}\n${occurrence}`).slice(0, 12),
        file,
        line: source.slice(0, target.start).split('\n').length,
        rule,
        start: target.start,
        end: target.end,
        before,
        after,
        replacement,
        probe,
      })
    }
  })
  return mutants
}

interface Change {
  readonly rule: Rule
  readonly target: { readonly start: number; readonly end: number }
  readonly replacement: string
  readonly probe: Mutant['probe']
}

function changes(node: AnyNode, parent: AnyNode | undefined, source: string): Change[] {
  const text = (part: Node) => source.slice(part.start, part.end)
  switch (node.type) {
    case 'IfStatement': {
      const negated = negate(node.test, text)
      if (node.alternate || !isExit(node.consequent)) return [negated]
      return [negated, { rule: 'skipped exit', target: node.test, replacement: 'false', probe: 'and' }]
    }
    case 'ConditionalExpression':
    case 'WhileStatement':
    case 'DoWhileStatement':
      return [negate(node.test, text)]
    case 'ForStatement':
      return node.test ? [negate(node.test, text)] : []
    case 'AwaitExpression': {
      const isStatement = parent?.type === 'ExpressionStatement'
      const operand = text(node).slice('await'.length)
      // `void` keeps the line from continuing the previous one, which has no semicolon.
      return [
        isStatement
          ? { rule: 'dropped await', target: node, replacement: `void${operand}`, probe: 'void' }
          : { rule: 'dropped await', target: node, replacement: operand.trimStart(), probe: 'comma' },
      ]
    }
    case 'MemberExpression': {
      const swapped = { 'Math.min': 'Math.max', 'Math.max': 'Math.min' }[text(node)]
      if (swapped === undefined) return []
      return [{ rule: 'swapped min and max', target: node, replacement: swapped, probe: 'comma' }]
    }
    case 'Literal': {
      if (parent?.type === 'Property' && parent.key === node) return []
      if (typeof node.value === 'boolean')
        return [{ rule: 'flipped boolean', target: node, replacement: String(!node.value), probe: 'comma' }]
      if (!Number.isInteger(node.value) || Number(node.value) > maxMutatedInteger) return []
      return [
        { rule: 'off by one', target: node, replacement: String(Number(node.value) + 1), probe: 'comma' },
      ]
    }
    default:
      return []
  }
}

function negate(test: Node, text: (part: Node) => string): Change {
  return { rule: 'negated condition', target: test, replacement: `!(${text(test)})`, probe: 'and' }
}

/** Whether a statement ends with a jump, as the body of a guard does. */
function isExit(statement: AnyNode | undefined): boolean {
  if (statement?.type === 'BlockStatement') return isExit(statement.body.at(-1))
  const exits = ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']
  return statement !== undefined && exits.includes(statement.type)
}

function visit(
  node: AnyNode,
  parent: AnyNode | undefined,
  found: (node: AnyNode, parent: AnyNode | undefined) => void,
): void {
  found(node, parent)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') visit(child, node, found)
    }
  }
}

/** The first line of a change, before and after it. */
function changedLine(source: string, { start, end }: Change['target'], replacement: string) {
  const first = source.lastIndexOf('\n', start - 1) + 1
  const line = (text: string) => text.slice(first).split('\n', 1)[0]?.trim() ?? ''
  return { before: line(source), after: line(source.slice(0, start) + replacement + source.slice(end)) }
}

/** The source text with the mutant applied. */
export function applyMutant(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end)
}

/**
 * The source text with every mutated expression wrapped, so that its first evaluation in a process appends the mutant's id to
 * the file `log`. Mutants must not overlap.
 */
export function applyProbes(source: string, mutants: readonly Mutant[], log: string): string {
  let text = source
  for (const { id, start, end, probe } of [...mutants].sort((a, b) => b.start - a.start)) {
    const original = text.slice(start, end)
    const call = `__reached('${id}')`
    const wrapped = {
      and: `${call} && (${original})`,
      comma: `(${call}, ${original})`,
      void: `void (${call}, ${original})`,
    }[probe]
    text = text.slice(0, start) + wrapped + text.slice(end)
  }
  const probe =
    `var __ids; function __reached(id) { if ((__ids ??= new Set()).has(id)) return true; __ids.add(id); ` +
    `process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(log)}, id + '\\n'); return true } `
  const body = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0
  return text.slice(0, body) + probe + text.slice(body)
}

/** Orders mutants pseudo-randomly by seed and id, so that an edit of one place does not change the order of the others. */
export function shuffleMutants(mutants: readonly Mutant[], seed: string): Mutant[] {
  const ranked = mutants.map((mutant) => ({ mutant, rank: digest(`${seed}\n${mutant.id}`) }))
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ mutant }) => mutant)
}

/** Selects `count` mutants that `accept` allows and that do not overlap; the rules take turns. */
export async function selectMutants(
  shuffled: readonly Mutant[],
  count: number,
  accept: (mutant: Mutant) => Promise<boolean>,
): Promise<Mutant[]> {
  const selected: Mutant[] = []
  const queues = rules.map((rule) => shuffled.filter((mutant) => mutant.rule === rule))
  const overlaps = (one: Mutant) =>
    selected.some(({ file, start, end }) => file === one.file && start < one.end && one.start < end)
  while (selected.length < count && queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) {
      if (selected.length === count) break
      let candidate = queue.shift()
      while (candidate && (overlaps(candidate) || !(await accept(candidate)))) candidate = queue.shift()
      if (candidate) selected.push(candidate)
    }
  }
  return selected
}

/** Divides `total` in proportion to the weights; the largest remainders are rounded up. */
export function apportion(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0)
  const shares = weights.map((weight) => (total * weight) / sum)
  const whole = shares.map(Math.floor)
  const rest = total - whole.reduce((a, b) => a + b, 0)
  const order = shares.map((share, index) => ({ index, part: share % 1 })).sort((a, b) => b.part - a.part)
  for (const { index } of order.slice(0, rest)) whole[index] = (whole[index] ?? 0) + 1
  return whole
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
