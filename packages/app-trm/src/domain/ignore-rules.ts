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
    const rule = reversedRules.find((one) => (isFolder || !one.isFolderRule) && one.matches(path))
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
  const whole = isIncluded ? rule.slice(1) : rule
  const isFolderRule = whole.endsWith('/')
  try {
    return [{ matches: createMatcher(isFolderRule ? whole.slice(0, -1) : whole), isIncluded, isFolderRule }]
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
const wild = Symbol('any number')
type NamePattern = readonly (CharTest | typeof wild)[]

/** A pattern without a slash matches names in any folder. Throws `SyntaxError` for a malformed pattern. */
function createMatcher(pattern: string): (path: string) => boolean {
  const anchored = pattern.includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`
  // A final `**` matches at least one name.
  const names = anchored.replace(/\/\*{2,}$/, '/*/**').split('/')
  const steps = names.map((name) => (/^\*{2,}$/.test(name) ? wild : parseName(name)))
  return (path) =>
    matchSequence(steps, path.split('/'), (step, name) =>
      matchSequence(step, name, (test, char) => test(char)),
    )
}

/** Whether steps match all items. The time is at most proportional to the product of both lengths. */
function matchSequence<Step>(
  steps: readonly (Step | typeof wild)[],
  items: ArrayLike<string>,
  matches: (step: Step, item: string) => boolean,
): boolean {
  let [at, item, lastWild, resume] = [0, 0, -1, 0]
  while (item < items.length) {
    const step = steps[at]
    if (step === wild) {
      lastWild = at++
      resume = item
    } else if (step !== undefined && matches(step, items[item] ?? '')) {
      at++
      item++
    } else if (lastWild >= 0) {
      at = lastWild + 1
      item = ++resume
    } else return false
  }
  return steps.slice(at).every((step) => step === wild)
}

/** Matches `*`, `?`, brackets for one character of a set, and escaped characters. */
const part = /\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\.|[^*?[\\]/gs

function parseName(name: string): NamePattern {
  const parts = name.match(part) ?? []
  if (parts.join('') !== name) throw new SyntaxError(`a malformed pattern: ${name}`)
  return parts.map((text) => {
    if (text.startsWith('*')) return wild
    if (text === '?') return () => true
    if (text.length > 1 && text.startsWith('[')) return parseSet(text.slice(1, -1))
    const literal = text.startsWith('\\') ? text.slice(1) : text
    return (char) => char === literal
  })
}

function parseSet(inside: string): CharTest {
  const isNegated = /^[!^]/.test(inside)
  const members = (isNegated ? inside.slice(1) : inside)
    .replaceAll(/\[:(\w+):\]/g, (_, name: string) => classes[name] ?? '')
    .replaceAll(/\\(.)|([[\]^])/g, (_, escaped: string | undefined, plain: string) => `\\${escaped ?? plain}`)
  const set = new RegExp(`^[${isNegated ? '^' : ''}${members}]$`, 's')
  return (char) => set.test(char)
}

const classes: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: ' \\t\\n\\r\\f\\v',
}
