/**
 * Conditions on frames: comparisons of arithmetic expressions, joined by `and`, `or` and `not`.
 */
import { CausewayError } from '@causeway/protocol'
import type { SeriesPlan } from './series-name.ts'

type Expression =
  | { readonly op: 'number'; readonly value: number }
  | { readonly op: 'series'; readonly index: number }
  | { readonly op: 'not' | 'negative' | 'abs'; readonly of: Expression }
  | { readonly op: Binary; readonly left: Expression; readonly right: Expression }

type Binary = 'and' | 'or' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '+' | '-' | '*' | '/'

export interface Predicate {
  readonly plans: readonly SeriesPlan[]
  readonly expression: Expression
}

interface Token {
  readonly text: string
  readonly at: number
}

const maxLength = 500
const maxDepth = 40
const tokenPattern =
  /\s*(?:([a-z_][\w]*(?:\.\w+)*)|(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)|(<=|>=|==|!=|&&|\|\||[<>=!()+\-*/,]))/iy
const operatorAliases: Readonly<Record<string, string>> = { '&&': 'and', '||': 'or', '!': 'not', '=': '==' }

export function parsePredicate(text: string, plan: (name: string) => SeriesPlan): Predicate {
  if (text.length > maxLength)
    throw createPredicateError(text, maxLength, `is longer than ${maxLength} characters`)
  return new PredicateParser(text, plan).parse()
}

class PredicateParser {
  readonly #text: string
  readonly #plan: (name: string) => SeriesPlan
  readonly #tokens: readonly Token[]
  readonly #plans: SeriesPlan[] = []
  #next = 0
  #depth = 0

  constructor(text: string, plan: (name: string) => SeriesPlan) {
    this.#text = text
    this.#plan = plan
    this.#tokens = tokenize(text)
  }

  parse(): Predicate {
    const expression = this.#either()
    if (this.#next < this.#tokens.length) throw this.#fail(`did not expect ${this.#peek().text}`)
    return { plans: this.#plans, expression }
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { text: '', at: this.#text.length }
  }

  #take(...expected: readonly string[]): Token | undefined {
    const token = this.#peek()
    if (!expected.includes(token.text)) return undefined
    this.#next += 1
    return token
  }

  #expect(expected: string): void {
    if (this.#take(expected) === undefined) throw this.#fail(`expected ${expected}, found ${this.#found()}`)
  }

  #found(): string {
    return this.#peek().text === '' ? 'the end' : this.#peek().text
  }

  #fail(problem: string, at = this.#peek().at, data?: object): CausewayError {
    return createPredicateError(this.#text, at, problem, data)
  }

  #chain(operand: () => Expression, ...operators: readonly Binary[]): Expression {
    let left = operand()
    for (let token = this.#take(...operators); token !== undefined; token = this.#take(...operators))
      left = { op: token.text as Binary, left, right: operand() }
    return left
  }

  #either(): Expression {
    return this.#chain(() => this.#both(), 'or')
  }

  #both(): Expression {
    return this.#chain(() => this.#negation(), 'and')
  }

  #negation(): Expression {
    return this.#take('not') ? { op: 'not', of: this.#negation() } : this.#comparison()
  }

  #comparison(): Expression {
    const left = this.#sum()
    const token = this.#take('<', '<=', '>', '>=', '==', '!=')
    return token === undefined ? left : { op: token.text as Binary, left, right: this.#sum() }
  }

  #sum(): Expression {
    return this.#chain(() => this.#product(), '+', '-')
  }

  #product(): Expression {
    return this.#chain(() => this.#unary(), '*', '/')
  }

  #unary(): Expression {
    this.#depth += 1
    if (this.#depth > maxDepth) throw this.#fail('is nested too deeply')
    const expression: Expression = this.#take('-') ? { op: 'negative', of: this.#unary() } : this.#primary()
    this.#depth -= 1
    return expression
  }

  #primary(): Expression {
    if (this.#take('(')) return this.#closed()
    const token = this.#peek()
    if (/^[\d.]/.test(token.text)) {
      this.#next += 1
      return { op: 'number', value: Number(token.text) }
    }
    if (!/^[a-z_]/i.test(token.text) || ['and', 'or', 'not'].includes(token.text))
      throw this.#fail(`expected a value, found ${this.#found()}`)
    this.#next += 1
    if (!this.#take('(')) return this.#series(token.text, token.at)
    return token.text === 'abs' ? { op: 'abs', of: this.#closed() } : this.#call(token)
  }

  #closed(): Expression {
    const inner = this.#either()
    this.#expect(')')
    return inner
  }

  /** Parses `speed(2)` as the series `body.2.speed`, and `contact(1, floor)` as `pair.1.floor.contact`. */
  #call({ text, at }: Token): Expression {
    const bodies: string[] = []
    do {
      bodies.push(this.#peek().text)
      this.#next += 1
    } while (this.#take(','))
    this.#expect(')')
    return this.#series(`${bodies.length === 1 ? 'body' : 'pair'}.${bodies.join('.')}.${text}`, at)
  }

  #series(name: string, at: number): Expression {
    const known = this.#plans.findIndex((plan) => plan.name === name)
    if (known !== -1) return { op: 'series', index: known }
    try {
      this.#plans.push(this.#plan(name))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw this.#fail(error.message, at, (error as { data?: object }).data)
    }
    return { op: 'series', index: this.#plans.length - 1 }
  }
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  for (let at = 0; at < end; ) {
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(text)
    if (match === null)
      throw createPredicateError(text, at, `did not expect ${text.slice(at).trim().slice(0, 1)}`)
    const found = match[0].trim()
    const lower = found.toLowerCase()
    tokens.push({
      text: operatorAliases[found] ?? (['and', 'or', 'not'].includes(lower) ? lower : found),
      at: tokenPattern.lastIndex - found.length,
    })
    at = tokenPattern.lastIndex
  }
  return tokens
}

function createPredicateError(
  text: string,
  position: number,
  problem: string,
  data: object = {},
): CausewayError {
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

/** Returns 1 or 0 for conditions. */
export function evaluate(expression: Expression, sample: (index: number) => number): number {
  if (expression.op === 'number') return expression.value
  if (expression.op === 'series') return sample(expression.index)
  if ('of' in expression) {
    const value = evaluate(expression.of, sample)
    if (expression.op === 'not') return isTruthy(value) ? 0 : 1
    return expression.op === 'abs' ? Math.abs(value) : -value
  }
  const left = evaluate(expression.left, sample)
  if (expression.op === 'and' && !isTruthy(left)) return 0
  if (expression.op === 'or' && isTruthy(left)) return 1
  return binaryOperators[expression.op](left, evaluate(expression.right, sample))
}

/** NaN does not meet any condition. */
export const isTruthy = (value: number): boolean => value !== 0 && !Number.isNaN(value)

const binaryOperators: Readonly<Record<Binary, (left: number, right: number) => number>> = {
  and: (_, right) => Number(isTruthy(right)),
  or: (_, right) => Number(isTruthy(right)),
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
