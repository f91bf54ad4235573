/**
 * The rules of one `.gitignore` (https://git-scm.com/docs/gitignore). The package `ignore` is not used because it lets an
 * ignored folder decide all paths below it, even if a nearer file includes them again.
 */
import { createMatcher, type PatternStep, toLiteralSteps, wildcardSteps } from './glob.ts'

/** Whether a path below the folder of the rules is ignored; `undefined` if no rule matches. */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean | undefined

interface Rule {
  readonly matches: (text: string) => boolean
  readonly isIncluded: boolean
  readonly isFolderRule: boolean
  /** Whether it has no slash and matches names at any depth. */
  readonly isNameRule: boolean
}

/** Longer lines match nothing, because no path is that long. */
const maxLineLength = 4096

/** Parses the rules. The last match counts. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const lastFirst = text.split('\n').flatMap(parseRule).reverse()
  return (path, isFolder) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const rule = lastFirst.find(
      ({ matches, isFolderRule, isNameRule }) =>
        (isFolder || !isFolderRule) && matches(isNameRule ? name : path),
    )
    return rule === undefined ? undefined : !rule.isIncluded
  }
}

function parseRule(line: string): Rule[] {
  const rule = trimBlanks(line.replace(/\r$/, ''))
  if (rule === '' || rule.startsWith('#') || rule.length > maxLineLength) return []
  const isIncluded = rule.startsWith('!')
  const whole = isIncluded ? rule.slice(1) : rule
  const isFolderRule = whole.endsWith('/')
  const pattern = isFolderRule ? whole.slice(0, -1) : whole
  const steps = parsePattern(pattern.replace(/^\//, ''))
  if (steps === undefined) return []
  return [{ matches: createMatcher(steps), isIncluded, isFolderRule, isNameRule: !pattern.includes('/') }]
}

/** Keeps a blank after a backslash. */
function trimBlanks(line: string): string {
  const trimmed = line.trimEnd()
  return trimmed.endsWith('\\') ? line.slice(0, trimmed.length + 1) : trimmed
}

/** `**` between slashes, `*` and `?` within a name, brackets for one character of a set. */
const part = /^\*\*\/|\/\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\.|[^*?[\\]/gs

/** `undefined` if malformed (ignored by git). */
function parsePattern(pattern: string): readonly PatternStep[] | undefined {
  const parts = pattern.match(part) ?? []
  if (parts.join('') !== pattern) return undefined
  try {
    return parts.flatMap(toSteps)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined // a range such as [z-a]
    throw error
  }
}

function toSteps(text: string): readonly PatternStep[] {
  if (text === '**/') return wildcardSteps['**/']
  if (text === '/**/') return [...toLiteralSteps('/'), ...wildcardSteps['**/']]
  if (text === '/**') return [...toLiteralSteps('/'), { one: () => true }, ...wildcardSteps['**']]
  if (text.startsWith('*')) return wildcardSteps['*']
  if (text === '?') return wildcardSteps['?']
  if (text.startsWith('[')) return [parseSet(text.slice(1, -1))]
  return toLiteralSteps(text.startsWith('\\') ? text.slice(1) : text)
}

/** Sets never match a slash. */
function parseSet(inside: string): PatternStep {
  const isNegated = /^[!^]/.test(inside)
  const members = (isNegated ? inside.slice(1) : inside)
    .replaceAll(/\[:(\w+):\]/g, (_, name: string) => classes[name] ?? '')
    .replaceAll(/\\(.)|([[\]^])/g, (_, escaped: string | undefined, plain: string) => `\\${escaped ?? plain}`)
  const set = new RegExp(`^[${isNegated ? '^' : ''}${members}]$`, 's')
  return { one: (char) => char !== '/' && set.test(char) }
}

const classes: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: ' \\t\\n\\r\\f\\v',
}
