/**
 * Conditions on frames: comparisons of arithmetic expressions, joined by `and`, `or` and `not`.
 */
import { CausewayError } from '@causeway/protocol'
import type { SeriesPlan } from './series-name.ts'

type Expression =
  | { readonly op: 'number'; readonly value: number }
  | { readonly op: 'series'; readonly index: number }
  | { readonly op: 'not' | 'negative' | 'abs'; readonly operand: Expression }
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
  readonly #createPlan: (name: string) => SeriesPlan
  readonly #tokens: readonly Token[]
  readonly #plans: SeriesPlan[] = []
  #position = 0
  #depth = 0

  constructor(text: string, plan: (name: string) => SeriesPlan) {
    this.#text = text
    this.#createPlan = plan
    this.#tokens = tokenize(text)
  }

  parse(): Predicate {
    const expression = this.#parseOr()
    if (this.#position < this.#tokens.length)
      throw this.#createError(`did not expect ${this.#peekToken().text}`)
    return { plans: this.#plans, expression }
  }

  #peekToken(): Token {
    return this.#tokens[this.#position] ?? { text: '', at: this.#text.length }
  }

  #takeToken(...expected: readonly string[]): Token | undefined {
    const token = this.#peekToken()
    if (!expected.includes(token.text)) return undefined
    this.#position += 1
    return token
  }

  #expectToken(expected: string): void {
    if (this.#takeToken(expected) === undefined)
      throw this.#createError(`expected ${expected}, found ${this.#describeNext()}`)
  }

  #describeNext(): string {
    return this.#peekToken().text === '' ? 'the end' : this.#peekToken().text
  }

  #createError(problem: string, at = this.#peekToken().at, data?: object): CausewayError {
    return createPredicateError(this.#text, at, problem, data)
  }

  #parseBinary(parseOperand: () => Expression, ...operators: readonly Binary[]): Expression {
    let left = parseOperand()
    for (
      let token = this.#takeToken(...operators);
      token !== undefined;
      token = this.#takeToken(...operators)
    )
      left = { op: token.text as Binary, left, right: parseOperand() }
    return left
  }

  #parseOr(): Expression {
    return this.#parseBinary(() => this.#parseAnd(), 'or')
  }

  #parseAnd(): Expression {
    return this.#parseBinary(() => this.#parseNot(), 'and')
  }

  #parseNot(): Expression {
    return this.#takeToken('not') ? { op: 'not', operand: this.#parseNot() } : this.#parseComparison()
  }

  #parseComparison(): Expression {
    const left = this.#parseSum()
    const token = this.#takeToken('<', '<=', '>', '>=', '==', '!=')
    return token === undefined ? left : { op: token.text as Binary, left, right: this.#parseSum() }
  }

  #parseSum(): Expression {
    return this.#parseBinary(() => this.#parseProduct(), '+', '-')
  }

  #parseProduct(): Expression {
    return this.#parseBinary(() => this.#parseUnary(), '*', '/')
  }

  #parseUnary(): Expression {
    this.#depth += 1
    if (this.#depth > maxDepth) throw this.#createError('is nested too deeply')
    const expression: Expression = this.#takeToken('-')
      ? { op: 'negative', operand: this.#parseUnary() }
      : this.#parsePrimary()
    this.#depth -= 1
    return expression
  }

  #parsePrimary(): Expression {
    if (this.#takeToken('(')) return this.#parseGroup()
    const token = this.#peekToken()
    if (/^[\d.]/.test(token.text)) {
      this.#position += 1
      return { op: 'number', value: Number(token.text) }
    }
    if (!/^[a-z_]/i.test(token.text) || ['and', 'or', 'not'].includes(token.text))
      throw this.#createError(`expected a value, found ${this.#describeNext()}`)
    this.#position += 1
    if (!this.#takeToken('(')) return this.#createSeries(token.text, token.at)
    return token.text === 'abs' ? { op: 'abs', operand: this.#parseGroup() } : this.#parseCall(token)
  }

  #parseGroup(): Expression {
    const expression = this.#parseOr()
    this.#expectToken(')')
    return expression
  }

  /** Parses `speed(2)` as the series `body.2.speed`, and `contact(1, floor)` as `pair.1.floor.contact`. */
  #parseCall({ text, at }: Token): Expression {
    const bodies: string[] = []
    do {
      bodies.push(this.#peekToken().text)
      this.#position += 1
    } while (this.#takeToken(','))
    this.#expectToken(')')
    return this.#createSeries(`${bodies.length === 1 ? 'body' : 'pair'}.${bodies.join('.')}.${text}`, at)
  }

  #createSeries(name: string, at: number): Expression {
    const existing = this.#plans.findIndex((plan) => plan.name === name)
    if (existing !== -1) return { op: 'series', index: existing }
    try {
      this.#plans.push(this.#createPlan(name))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw this.#createError(error.message, at, (error as { data?: object }).data)
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
    const token = match[0].trim()
    const lowerCase = token.toLowerCase()
    tokens.push({
      text: operatorAliases[token] ?? (['and', 'or', 'not'].includes(lowerCase) ? lowerCase : token),
      at: tokenPattern.lastIndex - token.length,
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
  if ('operand' in expression) {
    const value = evaluate(expression.operand, sample)
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
