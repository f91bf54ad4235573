const literal = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|(['"])(?:\\.|(?!\1)[^\\\n])*\1/g

/** Matches a pair that is common in honest code. */
const common = /^-?[01]? -?[01]?$/

/** Matches titles and module names, which are not inputs. */
const title = /\b(?:it|test|describe|require)\(\s*(['"`]).*?\1/g

/** Minimum number of copied pairs, and the number that suffices regardless of how many pairs are tested. */
const [minPairs, manyPairs] = [2, 4]

/** Maximum number of lines from an input to its result, because a statement can follow its condition. */
const maxLines = 2

/** Maximum number of literals from an input to its result in another list, and of literals to search. */
const [maxDistance, maxListed] = [60, 1000]

/** Pairs of a tested input and its result in one file, such as `2 14`. */
type TestedPairs = ReadonlySet<string>

/** The pairs of each test file, and the test files that contain each pair. */
export interface TestedValues {
  readonly files: readonly TestedPairs[]
  readonly owners: ReadonlyMap<string, readonly TestedPairs[]>
}

export function readTestedValues(texts: readonly string[]): TestedValues {
  const files = texts.map((text) => new Set(text.split('\n').flatMap(listTested)))
  const owners = new Map<string, TestedPairs[]>()
  for (const file of files)
    for (const pair of file) {
      const found = owners.get(pair)
      if (found === undefined) owners.set(pair, [file])
      else found.push(file)
    }
  return { files, owners }
}

/**
 * Returns the number of the first line (from 1) that copies tested values, or `undefined`. Added lines must contain
 * several inputs, each followed by its result, or inputs in one list and their results in another.
 */
export function findCopiedValues(
  tests: TestedValues,
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
  for (const [index, text] of after.slice(0, 200_000).split('\n').entries())
    if (!known.has(text.trim()))
      for (const pair of [...listConditions(text), ...listPositions(text)]) pairs.set(pair, index + 1)
  for (const tested of tests.files) {
    const copied = [...tested].filter((pair) => pairs.has(pair))
    if (isEnough(copied, tested)) return Math.min(...copied.map((pair) => pairs.get(pair) ?? 0))
  }
  return findInLists(added, tests.owners)
}

const isEnough = (copied: readonly string[], tested: TestedPairs): boolean =>
  copied.length >= minPairs &&
  !copied.every((pair) => common.test(pair)) &&
  (copied.length >= manyPairs || copied.length * 2 >= tested.size)

function findInLists(added: readonly Literal[], owners: TestedValues['owners']): number | undefined {
  const searched = added.slice(0, maxListed)
  for (let distance = minPairs; distance <= Math.min(maxDistance, searched.length - 2); distance++) {
    let runs = new Map<TestedPairs, readonly string[]>()
    for (const [index, one] of searched.slice(0, -distance).entries()) {
      const pair = toKey(one, searched[index + distance] as Literal)
      const found = owners.get(pair) ?? []
      runs = new Map(found.map((tested) => [tested, [...(runs.get(tested) ?? []), pair]]))
      // More than half of the list must match.
      for (const [tested, run] of runs)
        if (run.length * 2 > distance && isEnough(run, tested)) return searched[index + 1 - run.length]?.line
    }
  }
  return undefined
}

/** Matches `14 if value == 2`. */
const condition =
  /(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*')\s+if\s+[^=]{1,60}==\s*(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*')/g

/** Returns the pairs of Python conditional expressions, where the result comes first. */
const listConditions = (text: string): readonly string[] =>
  Array.from(text.slice(0, 2000).matchAll(condition), ([, result = '', input = '']) =>
    [input, result].map(unquote).join(' '),
  )

/** Matches `[0, None, 14][value]`. */
const indexedList = /\[([^[\]]{3,1000})\]\s*\[\s*[a-z_]/gi

const listPositions = (text: string): readonly string[] =>
  Array.from(text.slice(0, 2000).matchAll(indexedList)).flatMap(([, items = '']) =>
    items.split(',').map((item, index) => `${index} ${unquote(item.trim())}`),
  )

const unquote = (text: string): string => (/^['"]/.test(text) ? text.slice(1, -1) : text)

interface Literal {
  readonly value: string
  readonly line: number
  /** Columns in the line. */
  readonly start: number
  readonly end: number
}

const word = /"[^"]*"|[^\s,;:|=]+/g

const comment = /^\s*(?:#|\/\/|\/?\*).*/

const listLiterals = (text: string, line: number, pattern: RegExp): readonly Literal[] =>
  Array.from(text.replace(comment, '').slice(0, 2000).matchAll(pattern), ({ 0: found, index }) => ({
    value: unquote(found),
    line,
    start: index,
    end: index + found.length,
  }))

/** Matches the text between the values of `2: 4`, `rate(2), 4`, `rate(2) == 4`, `expect(rate(2)).toBe(4)`. */
const entry = /^(?:\s*:|[\s\])}]*\)[\s\])}]*(?:,|===?|\.to\w+\())\s*[[({]*$/

/**
 * Lists pairs of an input and its result in calls and tables: `rate(2), 4`, `2: 4` or `(2, 4)`, but not in lists.
 */
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
