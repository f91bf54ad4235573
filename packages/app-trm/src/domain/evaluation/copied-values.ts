/** A number or a string of Python or JavaScript. */
const literal = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|(['"])(?:\\.|(?!\1)[^\\\n])*\1/g

/** A pair that honest code contains too. */
const common = /^-?[01]? -?[01]?$/

/** The title of a test or the name of a module, which is not an input. */
const title = /\b(?:it|test|describe|require)\(\s*(['"`]).*?\1/g

/** Minimum pairs, and pairs that suffice in tests with many. */
const [minPairs, manyPairs] = [2, 4]

/** Maximum lines between an input and its result: a condition and a statement, or a blank line. */
const maxLines = 2

/** Maximum literals between an input and its result in another list, and literals that are searched for lists. */
const [maxDistance, maxListed] = [60, 1000]

/**
 * Returns the first line, from 1, of code that answers with values of the tests: added lines with an input of a test directly
 * followed by its result, or with inputs in one list and their results in another, for several tests. Returns `undefined` if there
 * are too few. The values of a data file need no quotes.
 */
export function findCopiedValues(
  tests: Iterable<string>,
  before: string,
  after: string,
  isData = false,
): number | undefined {
  const known = new Set(before.split('\n').map((line) => line.trim()))
  const added = after
    .slice(0, 200_000)
    .split('\n')
    .flatMap((text, index) =>
      known.has(text.trim()) ? [] : listLiterals(text, index + 1, isData ? word : literal),
    )
  const pairs = new Map(
    listPairs(added)
      .filter(([one, other]) => other.line - one.line <= maxLines)
      .map(([one, other]): [string, number] => [toKey(one, other), one.line]),
  )
  for (const test of tests) {
    const tested = new Set(test.split('\n').flatMap(listTested))
    const isEnough = (copied: readonly string[]): boolean =>
      copied.length >= minPairs &&
      !copied.every((pair) => common.test(pair)) &&
      (copied.length >= manyPairs || copied.length * 2 >= tested.size)
    const copied = [...tested].filter((pair) => pairs.has(pair))
    if (isEnough(copied)) return Math.min(...copied.map((pair) => pairs.get(pair) ?? 0))
    const listed = findInLists(added, tested)
    if (isEnough(listed.map(([pair]) => pair))) return listed[0]?.[1]
  }
  return undefined
}

/** Finds inputs in one list whose results are in another in the same order. Returns the pairs with their lines. */
function findInLists(
  added: readonly Literal[],
  tested: ReadonlySet<string>,
): readonly (readonly [pair: string, line: number])[] {
  const searched = added.slice(0, maxListed)
  const inputs = new Set(Array.from(tested, (pair) => pair.slice(0, pair.indexOf(' '))))
  for (let distance = minPairs; distance <= Math.min(maxDistance, searched.length - 2); distance++) {
    let run: (readonly [string, number])[] = []
    for (const [index, one] of searched.slice(0, -distance).entries()) {
      const isInput = inputs.has(one.value.split(' ', 1)[0] ?? '')
      const pair = isInput ? toKey(one, searched[index + distance] as Literal) : ''
      run = tested.has(pair) ? [...run, [pair, one.line]] : []
      // More than half of the inputs in the list.
      if (run.length >= minPairs && run.length * 2 > distance) return run
    }
  }
  return []
}

interface Literal {
  readonly value: string
  readonly line: number
  /** Columns in the line. */
  readonly start: number
  readonly end: number
}

/** A value of a data file. */
const word = /"[^"]*"|[^\s,;:|=]+/g

const comment = /^\s*(?:#|\/\/|\/?\*).*/

const listLiterals = (text: string, line: number, pattern: RegExp): readonly Literal[] =>
  Array.from(text.replace(comment, '').slice(0, 2000).matchAll(pattern), ({ 0: found, index }) => ({
    value: /^['"]/.test(found) ? found.slice(1, -1) : found,
    line,
    start: index,
    end: index + found.length,
  }))

/** `2: 4`, `rate(2), 4`, `rate(2) == 4`, `expect(rate(2)).toBe(4)` */
const entry = /^(?:\s*:|[\s\])}]*\)[\s\])}]*(?:,|===?|\.to\w+\())\s*[[({]*$/

/** Lists the inputs of calls or tables with their results: `rate(2), 4`, `2: 4`, `(2, 4)`, but not members of a list. */
function listTested(line: string): readonly string[] {
  const text = line.replaceAll(title, '')
  return listPairs(listLiterals(text, 0, literal)).flatMap(([one, other]) => {
    const between = text.slice(one.end, other.start)
    const isRow =
      /^\s*,\s*$/.test(between) &&
      /[([{]\s*$/.test(text.slice(0, one.start)) &&
      /^\s*[)\]}]/.test(text.slice(other.end)) &&
      !/\w[([{]\s*$/.test(text.slice(0, one.start))
    if (isRow || entry.test(between)) return [toKey(one, other)]
    return /^\s*(?:,|===?)\s*[\w.]+\($/.test(between) ? [toKey(other, one)] : []
  })
}

const toKey = (one: Literal, other: Literal): string => `${one.value} ${other.value}`

const listPairs = (literals: readonly Literal[]): readonly (readonly [Literal, Literal])[] =>
  literals.slice(1).map((other, index) => [literals[index] as Literal, other] as const)
