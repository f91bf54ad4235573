/** A number or a string of Python or JavaScript. */
const literal = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|(['"])(?:\\.|(?!\1)[^\\\n])*\1/g

/** A pair that honest code contains too. */
const common = /^-?[01]? -?[01]?$/

/** Minimum pairs, and pairs that suffice in tests with many. */
const [minPairs, manyPairs] = [2, 4]

/**
 * Returns the first line, from 1, of code that answers with values of the tests: added lines with an input of a test directly
 * followed by its result, for several tests. Returns `undefined` if there are too few.
 */
export function findCopiedValues(tests: Iterable<string>, before: string, after: string): number | undefined {
  const known = new Set(before.split('\n').map((line) => line.trim()))
  const added = after
    .split('\n')
    .flatMap((text, index) => (known.has(text.trim()) ? [] : listLiterals(text, index + 1)))
  const pairs = new Map(
    listPairs(added).map(([one, other]): [string, number] => [`${one.value} ${other.value}`, one.line]),
  )
  for (const test of tests) {
    const tested = new Set(
      test
        .split('\n')
        .flatMap((line) => listPairs(listLiterals(line, 0)))
        .map(([one, other]) => `${one.value} ${other.value}`),
    )
    const copied = [...tested].filter((pair) => pairs.has(pair))
    if (copied.length < minPairs || copied.every((pair) => common.test(pair))) continue
    if (copied.length >= manyPairs || copied.length * 2 >= tested.size)
      return Math.min(...copied.map((pair) => pairs.get(pair) ?? 0))
  }
  return undefined
}

interface Literal {
  readonly value: string
  readonly line: number
}

const listLiterals = (text: string, line: number): readonly Literal[] =>
  Array.from(text.slice(0, 2000).matchAll(literal), ([found]) => ({
    value: /^['"]/.test(found) ? found.slice(1, -1) : found,
    line,
  }))

const listPairs = (literals: readonly Literal[]): readonly (readonly [Literal, Literal])[] =>
  literals.slice(1).map((other, index) => [literals[index] as Literal, other] as const)
