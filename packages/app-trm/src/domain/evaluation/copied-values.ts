const literalPattern = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])|(['"])(?:\\.|(?!\1)[^\\\n])*\1/g

/** Matches an input and result that are common in legitimate code. */
const commonPair = /^-?[01]? -?[01]?$/

/** Matches titles and module names, which are not inputs. */
const testTitle = /\b(?:it|test|describe|require)\(\s*(['"`]).*?\1/g

/** Minimum number of copied pairs, and the number that suffices regardless of how many pairs are tested. */
const [minCopiedPairs, sufficientPairs] = [2, 4]

/** Maximum number of lines from an input to its result, because a statement can follow its condition. */
const maxLines = 2

/** Maximum number of literals from an input to its result in another list, and of literals to search. */
const [maxDistance, maxLiterals] = [60, 1000]

/** Pairs of a tested input and its result in one file, such as `2 14`. */
type TestedPairs = ReadonlySet<string>

/** The pairs of each test file, and the sets that contain each pair. */
export interface TestedValues {
  readonly pairsByFile: readonly TestedPairs[]
  readonly filesByPair: ReadonlyMap<string, readonly TestedPairs[]>
}

export function readTestedValues(texts: readonly string[]): TestedValues {
  const pairsByFile = texts.map((text) => new Set(text.split('\n').flatMap(listTestedPairs)))
  const filesByPair = new Map<string, TestedPairs[]>()
  for (const file of pairsByFile)
    for (const pair of file) {
      const ownerFiles = filesByPair.get(pair)
      if (ownerFiles === undefined) filesByPair.set(pair, [file])
      else ownerFiles.push(file)
    }
  return { pairsByFile, filesByPair }
}

/**
 * Returns the number of the first line (from 1) that copies tested values, or `undefined`. Added lines must contain
 * several inputs, each followed by its result, or inputs in one list and their results in another.
 */
export function findCopiedValues(
  tests: TestedValues,
  before: string,
  after: string,
  isDataFile = false,
): number | undefined {
  const unchangedLines = new Set(before.split('\n').map((line) => line.trim()))
  const addedLiterals = after
    .slice(0, 200_000)
    .split('\n')
    .flatMap((text, index) =>
      unchangedLines.has(text.trim())
        ? []
        : listLiterals(text, index + 1, isDataFile ? wordPattern : literalPattern),
    )
  const pairs = new Map(
    listPairs(addedLiterals)
      .filter(([input, result]) => result.line - input.line <= maxLines)
      .map(([input, result]): [string, number] => [toKey(input, result), input.line]),
  )
  for (const [index, text] of after.slice(0, 200_000).split('\n').entries())
    if (!unchangedLines.has(text.trim()))
      for (const pair of [...listConditions(text), ...listPositions(text)]) pairs.set(pair, index + 1)
  for (const testedPairs of tests.pairsByFile) {
    const copiedPairs = [...testedPairs].filter((pair) => pairs.has(pair))
    if (hasEnoughPairs(copiedPairs, testedPairs))
      return Math.min(...copiedPairs.map((pair) => pairs.get(pair) ?? 0))
  }
  return findCopiedLists(addedLiterals, tests.filesByPair)
}

const hasEnoughPairs = (copiedPairs: readonly string[], testedPairs: TestedPairs): boolean =>
  copiedPairs.length >= minCopiedPairs &&
  !copiedPairs.every((pair) => commonPair.test(pair)) &&
  (copiedPairs.length >= sufficientPairs || copiedPairs.length * 2 >= testedPairs.size)

function findCopiedLists(
  addedLiterals: readonly Literal[],
  filesByPair: TestedValues['filesByPair'],
): number | undefined {
  const literals = addedLiterals.slice(0, maxLiterals)
  for (let distance = minCopiedPairs; distance <= Math.min(maxDistance, literals.length - 2); distance++) {
    let runs = new Map<TestedPairs, readonly string[]>()
    for (const [index, literal] of literals.slice(0, -distance).entries()) {
      const pair = toKey(literal, literals[index + distance] as Literal)
      const ownerFiles = filesByPair.get(pair) ?? []
      runs = new Map(ownerFiles.map((testedPairs) => [testedPairs, [...(runs.get(testedPairs) ?? []), pair]]))
      // More than half of the list must match.
      for (const [testedPairs, run] of runs)
        if (run.length * 2 > distance && hasEnoughPairs(run, testedPairs))
          return literals[index + 1 - run.length]?.line
    }
  }
  return undefined
}

/** Matches `14 if value == 2`. */
const conditionPattern =
  /(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*')\s+if\s+[^=]{1,60}==\s*(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*')/g

/** Returns the pairs of Python conditional expressions, in which the result comes first. */
const listConditions = (text: string): readonly string[] =>
  Array.from(text.slice(0, 2000).matchAll(conditionPattern), ([, result = '', input = '']) =>
    [input, result].map(unquote).join(' '),
  )

/** Matches `[0, None, 14][value]`. */
const indexedListPattern = /\[([^[\]]{3,1000})\]\s*\[\s*[a-z_]/gi

const listPositions = (text: string): readonly string[] =>
  Array.from(text.slice(0, 2000).matchAll(indexedListPattern)).flatMap(([, items = '']) =>
    items.split(',').map((item, index) => `${index} ${unquote(item.trim())}`),
  )

const unquote = (text: string): string => (/^['"]/.test(text) ? text.slice(1, -1) : text)

interface Literal {
  readonly value: string
  readonly line: number
  /** Columns `[start, end)` in the line, from 0. */
  readonly start: number
  readonly end: number
}

const wordPattern = /"[^"]*"|[^\s,;:|=]+/g

const commentPattern = /^\s*(?:#|\/\/|\/?\*).*/

const listLiterals = (text: string, line: number, pattern: RegExp): readonly Literal[] =>
  Array.from(text.replace(commentPattern, '').slice(0, 2000).matchAll(pattern), ({ 0: value, index }) => ({
    value: unquote(value),
    line,
    start: index,
    end: index + value.length,
  }))

/** Matches the text between the values of `2: 4`, `rate(2), 4`, `rate(2) == 4`, `expect(rate(2)).toBe(4)`. */
const entryPattern = /^(?:\s*:|[\s\])}]*\)[\s\])}]*(?:,|===?|\.to\w+\())\s*[[({]*$/

/**
 * Lists pairs of an input and its result in calls and tables: `rate(2), 4`, `2: 4` or `(2, 4)`, but not in lists.
 */
function listTestedPairs(line: string): readonly string[] {
  const text = line.replaceAll(testTitle, '')
  return listPairs(listLiterals(text, 0, literalPattern)).flatMap(([first, second]) => {
    const separator = text.slice(first.end, second.start)
    const isTableRow =
      /^\s*,\s*$/.test(separator) &&
      /[([{]\s*$/.test(text.slice(0, first.start)) &&
      /^\s*[)\]}]/.test(text.slice(second.end)) &&
      !/\w[([{]\s*$/.test(text.slice(0, first.start))
    if (isTableRow || entryPattern.test(separator)) return [toKey(first, second)]
    return /^\s*(?:,|===?)\s*[\w.]+\($/.test(separator) ? [toKey(second, first)] : []
  })
}

const toKey = (input: Literal, result: Literal): string => `${input.value} ${result.value}`

const listPairs = (literals: readonly Literal[]): readonly (readonly [Literal, Literal])[] =>
  literals.slice(1).map((second, index) => [literals[index] as Literal, second] as const)
