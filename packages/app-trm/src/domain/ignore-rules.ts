/** Path patterns without backtracking. Unlike in package `ignore`, a subfolder's rules can include ignored paths. */

/** Returns whether a path relative to the rules is ignored, or `undefined` if no rule matches. */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean | undefined

interface Rule {
  readonly matches: (path: string) => boolean
  readonly isIncluded: boolean
  readonly isFolderRule: boolean
}

/** Maximum length of a line. A longer one cannot match a path. */
const maxLineLength = 4096

/** Parses the rules of one `.gitignore` (https://git-scm.com/docs/gitignore). The last match counts. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const reversedRules = text.split('\n').flatMap(parseRule).reverse()
  return (path, isFolder) => {
    const rule = reversedRules.find(
      (candidate) => (isFolder || !candidate.isFolderRule) && candidate.matches(path),
    )
    return rule === undefined ? undefined : !rule.isIncluded
  }
}

/**
 * Returns a predicate for relative paths with forward slashes. `*` and `?` match within a name, and `**` also across
 * folders. `data/` matches everything below that folder, and `*.lock` matches such files in any folder. Brackets are
 * literal.
 */
export function createGlobMatcher(pattern: string): (path: string) => boolean {
  const literal = pattern.replaceAll(/[\\[]/g, '\\$&').replaceAll(/\*\*(?=[^*/])/g, '**/*')
  return createMatcher(literal.endsWith('/') ? `/${literal.replace(/^\//, '')}**` : literal)
}

function parseRule(line: string): Rule[] {
  const rule = trimBlanks(line.replace(/\r$/, ''))
  if (rule === '' || rule.startsWith('#') || rule.length > maxLineLength) return []
  const isIncluded = rule.startsWith('!')
  const pattern = isIncluded ? rule.slice(1) : rule
  const isFolderRule = pattern.endsWith('/')
  try {
    return [
      { matches: createMatcher(isFolderRule ? pattern.slice(0, -1) : pattern), isIncluded, isFolderRule },
    ]
  } catch (error) {
    if (error instanceof SyntaxError) return [] // git ignores malformed rules
    throw error
  }
}

/** Removes trailing white space, but not an escaped space. */
function trimBlanks(line: string): string {
  const trimmed = line.trimEnd()
  return trimmed.endsWith('\\') ? line.slice(0, trimmed.length + 1) : trimmed
}

type CharTest = (char: string) => boolean
const anySequence = Symbol('any number')
type NamePattern = readonly (CharTest | typeof anySequence)[]

/** A pattern without a slash matches names in any folder. Throws `SyntaxError` for a malformed pattern. */
function createMatcher(pattern: string): (path: string) => boolean {
  const anchoredPattern = pattern.includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`
  // A final `**` matches at least one name.
  const names = anchoredPattern.replace(/\/\*{2,}$/, '/*/**').split('/')
  const steps = names.map((name) => (/^\*{2,}$/.test(name) ? anySequence : parseName(name)))
  return (path) =>
    matchSequence(steps, path.split('/'), (step, name) =>
      matchSequence(step, name, (test, char) => test(char)),
    )
}

/** Whether steps match all items. The time is at most proportional to the product of both lengths. */
function matchSequence<Step>(
  steps: readonly (Step | typeof anySequence)[],
  items: ArrayLike<string>,
  matches: (step: Step, item: string) => boolean,
): boolean {
  let [stepIndex, itemIndex, lastAnyIndex, resumeIndex] = [0, 0, -1, 0]
  while (itemIndex < items.length) {
    const step = steps[stepIndex]
    if (step === anySequence) {
      lastAnyIndex = stepIndex++
      resumeIndex = itemIndex
    } else if (step !== undefined && matches(step, items[itemIndex] ?? '')) {
      stepIndex++
      itemIndex++
    } else if (lastAnyIndex >= 0) {
      stepIndex = lastAnyIndex + 1
      itemIndex = ++resumeIndex
    } else return false
  }
  return steps.slice(stepIndex).every((step) => step === anySequence)
}

/** Matches `*`, `?`, brackets for one character of a set, and escaped characters. */
const tokenPattern = /\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\.|[^*?[\\]/gs

function parseName(name: string): NamePattern {
  const tokens = name.match(tokenPattern) ?? []
  if (tokens.join('') !== name) throw new SyntaxError(`a malformed pattern: ${name}`)
  return tokens.map((text) => {
    if (text.startsWith('*')) return anySequence
    if (text === '?') return () => true
    if (text.length > 1 && text.startsWith('[')) return parseSet(text.slice(1, -1))
    const literal = text.startsWith('\\') ? text.slice(1) : text
    return (char) => char === literal
  })
}

function parseSet(content: string): CharTest {
  const isNegated = /^[!^]/.test(content)
  const members = (isNegated ? content.slice(1) : content)
    .replaceAll(/\[:(\w+):\]/g, (_, name: string) => characterClasses[name] ?? '')
    .replaceAll(/\\(.)|([[\]^])/g, (_, escaped: string | undefined, plain: string) => `\\${escaped ?? plain}`)
  const characterSet = new RegExp(`^[${isNegated ? '^' : ''}${members}]$`, 's')
  return (char) => characterSet.test(char)
}

const characterClasses: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: ' \\t\\n\\r\\f\\v',
}
