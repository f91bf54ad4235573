/**
 * Conditions on frames: `speed(2) > 1 and contact(1, 2) and delta_e < -0.5`.
 *
 * Comparisons of sums and products of numbers and series, joined by and, or, not. A series is written by its name
 * (`body.2.speed`) or as a function (`speed(2)`, `normal_force(2, floor)`).
 */
import { CausewayError } from '@causeway/protocol'
import type { SeriesPlan } from './series-name.ts'

/** A condition or a value: a tree of plain data; `series` is an index into the plans. */
export type Expression =
  | { readonly op: 'number'; readonly value: number }
  | { readonly op: 'series'; readonly index: number }
  | { readonly op: 'not' | 'negative' | 'abs'; readonly of: Expression }
  | { readonly op: Binary; readonly left: Expression; readonly right: Expression }

type Binary = 'and' | 'or' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '+' | '-' | '*' | '/'

/** A condition with the series that it reads. */
export interface Predicate {
  readonly plans: readonly SeriesPlan[]
  readonly expression: Expression
}

interface Token {
  readonly text: string
  readonly at: number
}

const longest = 500
const deepest = 40
const tokenPattern =
  /\s*(?:([a-z_][\w]*(?:\.\w+)*)|(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)|(<=|>=|==|!=|&&|\|\||[<>=!()+\-*/,]))/iy
const words: Readonly<Record<string, string>> = { '&&': 'and', '||': 'or', '!': 'not', '=': '==' }

/** Reads a condition; `plan` finds the series of a name. Throws `INVALID_ARGUMENTS` with the position. */
export function parsePredicate(text: string, plan: (name: string) => SeriesPlan): Predicate {
  if (text.length > longest) throw wrong(text, longest, `is longer than ${longest} characters`)
  const tokens = tokensOf(text)
  const plans: SeriesPlan[] = []
  let next = 0
  let depth = 0
  const peek = (): Token => tokens[next] ?? { text: '', at: text.length }
  const take = (...wanted: readonly string[]): Token | undefined => {
    const token = peek()
    if (!wanted.includes(token.text)) return undefined
    next += 1
    return token
  }
  const expect = (wanted: string): void => {
    if (take(wanted) === undefined)
      throw wrong(
        text,
        peek().at,
        `expected ${wanted}, found ${peek().text === '' ? 'the end' : peek().text}`,
      )
  }
  const chain = (operand: () => Expression, ...operators: readonly Binary[]): Expression => {
    let left = operand()
    for (let token = take(...operators); token !== undefined; token = take(...operators))
      left = { op: token.text as Binary, left, right: operand() }
    return left
  }
  const either = (): Expression => chain(both, 'or')
  const both = (): Expression => chain(negation, 'and')
  const negation = (): Expression => (take('not') ? { op: 'not', of: negation() } : comparison())
  const comparison = (): Expression => {
    const left = sum()
    const token = take('<', '<=', '>', '>=', '==', '!=')
    return token === undefined ? left : { op: token.text as Binary, left, right: sum() }
  }
  const sum = (): Expression => chain(product, '+', '-')
  const product = (): Expression => chain(unary, '*', '/')
  const unary = (): Expression => {
    depth += 1
    if (depth > deepest) throw wrong(text, peek().at, 'is nested too deeply')
    const found = take('-') ? ({ op: 'negative', of: unary() } as const) : primary()
    depth -= 1
    return found
  }
  const primary = (): Expression => {
    const token = peek()
    if (take('(')) {
      const inner = either()
      expect(')')
      return inner
    }
    next += 1
    if (/^[\d.]/.test(token.text)) return { op: 'number', value: Number(token.text) }
    if (!/^[a-z_]/i.test(token.text) || ['and', 'or', 'not'].includes(token.text))
      throw wrong(text, token.at, `expected a value, found ${token.text === '' ? 'the end' : token.text}`)
    return take('(') ? called(token) : series(token.text, token)
  }
  const called = (token: Token): Expression => {
    if (token.text === 'abs') {
      const of = either()
      expect(')')
      return { op: 'abs', of }
    }
    const bodies: string[] = []
    do {
      bodies.push(peek().text)
      next += 1
    } while (take(','))
    expect(')')
    const kind = bodies.length === 1 ? 'body' : 'pair'
    return series(`${kind}.${bodies.join('.')}.${token.text}`, token)
  }
  const series = (name: string, { at }: Token): Expression => {
    const known = plans.findIndex((one) => one.name === name)
    if (known !== -1) return { op: 'series', index: known }
    try {
      plans.push(plan(name))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw wrong(text, at, error.message, (error as { data?: object }).data)
    }
    return { op: 'series', index: plans.length - 1 }
  }

  const expression = either()
  if (next < tokens.length) throw wrong(text, peek().at, `did not expect ${peek().text}`)
  return { plans, expression }
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  for (let at = 0; at < end; ) {
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(text)
    if (match === null) throw wrong(text, at, `did not expect ${text.slice(at).trim().slice(0, 1)}`)
    const found = match[0].trim()
    const lower = found.toLowerCase()
    tokens.push({
      text: words[found] ?? (['and', 'or', 'not'].includes(lower) ? lower : found),
      at: tokenPattern.lastIndex - found.length,
    })
    at = tokenPattern.lastIndex
  }
  return tokens
}

function wrong(text: string, position: number, problem: string, data: object = {}): CausewayError {
  return new CausewayError('INVALID_ARGUMENTS', `predicate, at character ${position + 1}: ${problem}`, {
    remedy: 'write comparisons like speed(2) > 1 and contact(1, 2) and delta_e < -0.5',
    data: {
      ...data,
      problems: [{ argument: 'predicate', problem }],
      position,
      rest: text.slice(position, position + 40),
    },
  })
}

/** The value of an expression where `sample` gives that of a series: conditions are 1 or 0; NaN meets no condition. */
export function evaluate(expression: Expression, sample: (index: number) => number): number {
  if (expression.op === 'number') return expression.value
  if (expression.op === 'series') return sample(expression.index)
  if ('of' in expression) {
    const value = evaluate(expression.of, sample)
    if (expression.op === 'not') return holds(value) ? 0 : 1
    return expression.op === 'abs' ? Math.abs(value) : -value
  }
  const left = evaluate(expression.left, sample)
  if (expression.op === 'and' && !holds(left)) return 0
  if (expression.op === 'or' && holds(left)) return 1
  return binary[expression.op](left, evaluate(expression.right, sample))
}

/** A value is a condition that is met where it is neither 0 nor absent. */
export const holds = (value: number): boolean => value !== 0 && !Number.isNaN(value)

const binary: Readonly<Record<Binary, (left: number, right: number) => number>> = {
  and: (_, right) => Number(holds(right)),
  or: (_, right) => Number(holds(right)),
  '<': (left, right) => Number(left < right),
  '<=': (left, right) => Number(left <= right),
  '>': (left, right) => Number(left > right),
  '>=': (left, right) => Number(left >= right),
  '==': (left, right) => Number(left === right),
  '!=': (left, right) => Number(left < right || left > right),
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
}
