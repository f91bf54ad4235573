/**
 * The rules of one `.gitignore` (https://git-scm.com/docs/gitignore). Each path is judged by itself: the package `ignore` lets a
 * folder that is ignored here decide of all below it, also where a nearer file has taken it back.
 */

import { literalSteps, type PatternStep, stepsMatcher, wildcardSteps } from './glob.ts'

/** Says of a path below the folder of the rules whether they ignore it or keep it; undefined where they say nothing. */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean | undefined

interface Rule {
  readonly matches: (text: string) => boolean
  readonly isKept: boolean
  readonly isForFolders: boolean
  /** a pattern without a slash is for names at any depth */
  readonly isForNames: boolean
}

/** Longer lines match nothing: they are longer than a path. */
const maxLineLength = 4096

/** Reads the rules; of those that match a path the last one counts. */
export function ignoreRules(text: string): IgnoreRules {
  const lastFirst = text.split('\n').flatMap(ruleOf).reverse()
  return (path, isFolder) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const rule = lastFirst.find(
      ({ matches, isForFolders, isForNames }) =>
        (isFolder || !isForFolders) && matches(isForNames ? name : path),
    )
    return rule === undefined ? undefined : !rule.isKept
  }
}

function ruleOf(line: string): Rule[] {
  const written = withoutTrailingBlanks(line.replace(/\r$/, ''))
  if (written === '' || written.startsWith('#') || written.length > maxLineLength) return []
  const isKept = written.startsWith('!')
  const whole = isKept ? written.slice(1) : written
  const isForFolders = whole.endsWith('/')
  const pattern = isForFolders ? whole.slice(0, -1) : whole
  const steps = parsePattern(pattern.replace(/^\//, ''))
  if (steps === undefined) return []
  return [{ matches: stepsMatcher(steps), isKept, isForFolders, isForNames: !pattern.includes('/') }]
}

/** A backslash keeps the blank behind it. */
function withoutTrailingBlanks(line: string): string {
  const trimmed = line.trimEnd()
  return trimmed.endsWith('\\') ? line.slice(0, trimmed.length + 1) : trimmed
}

/** `**` stands for folders between slashes, `*` and `?` for parts of a name, brackets for one character of a set. */
const part = /^\*\*\/|\/\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\.|[^*?[\\]/gs

/** The steps of a pattern; `undefined` if git ignores the pattern because it is malformed. */
function parsePattern(pattern: string): readonly PatternStep[] | undefined {
  const parts = pattern.match(part) ?? []
  if (parts.join('') !== pattern) return undefined
  try {
    return parts.flatMap(stepsOfPart)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined // a range such as [z-a]
    throw error
  }
}

function stepsOfPart(text: string): readonly PatternStep[] {
  if (text === '**/') return wildcardSteps['**/']
  if (text === '/**/') return [...literalSteps('/'), ...wildcardSteps['**/']]
  if (text === '/**') return [...literalSteps('/'), { one: () => true }, ...wildcardSteps['**']]
  if (text.startsWith('*')) return wildcardSteps['*']
  if (text === '?') return wildcardSteps['?']
  if (text.startsWith('[')) return [setStep(text.slice(1, -1))]
  return literalSteps(text.startsWith('\\') ? text.slice(1) : text)
}

/** `[!a-z]` never matches a slash, nor does any set. */
function setStep(inside: string): PatternStep {
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
