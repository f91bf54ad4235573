/**
 * The rules of one `.gitignore` (https://git-scm.com/docs/gitignore). Each path is judged by itself: the package `ignore` lets a
 * folder that is ignored here decide of all below it, also where a nearer file has taken it back.
 */

/** Says of a path below the folder of the rules whether they ignore it or keep it; undefined where they say nothing. */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean | undefined

interface Rule {
  readonly matches: RegExp
  readonly isKept: boolean
  readonly isForFolders: boolean
  /** a pattern without a slash is for names at any depth */
  readonly isForNames: boolean
}

/** Reads the rules; of those that match a path the last one counts. */
export function ignoreRules(text: string): IgnoreRules {
  const lastFirst = text.split('\n').flatMap(ruleOf).reverse()
  return (path, isFolder) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const rule = lastFirst.find(
      ({ matches, isForFolders, isForNames }) =>
        (isFolder || !isForFolders) && matches.test(isForNames ? name : path),
    )
    return rule === undefined ? undefined : !rule.isKept
  }
}

function ruleOf(line: string): Rule[] {
  const written = line.replace(/\r$/, '').replace(/(?<!\\)\s+$/, '')
  if (written === '' || written.startsWith('#')) return []
  const isKept = written.startsWith('!')
  const whole = isKept ? written.slice(1) : written
  const isForFolders = whole.endsWith('/')
  const pattern = isForFolders ? whole.slice(0, -1) : whole
  const source = sourceOf(pattern.replace(/^\//, ''))
  if (source === undefined) return []
  return [
    { matches: new RegExp(`^${source}$`, 's'), isKept, isForFolders, isForNames: !pattern.includes('/') },
  ]
}

/** `**` stands for folders between slashes, `*` and `?` for parts of a name, brackets for one character of a set. */
const part = /^\*\*\/|\/\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\.|[^*?[\\]/gs

/** The regular expression of a pattern; undefined for one that git takes for nothing. */
function sourceOf(pattern: string): string | undefined {
  const parts = pattern.match(part) ?? []
  if (parts.join('') !== pattern) return undefined
  return parts.map(sourceOfPart).join('')
}

function sourceOfPart(text: string): string {
  if (text === '**/') return '(?:.*/)?'
  if (text === '/**/') return '/(?:.*/)?'
  if (text === '/**') return '/.+'
  if (text.startsWith('*')) return '[^/]*'
  if (text === '?') return '[^/]'
  if (text.startsWith('[')) return setOf(text.slice(1, -1))
  return literal(text.startsWith('\\') ? text.slice(1) : text)
}

/** `[!a-z]` never matches a slash, nor does any set. */
function setOf(inside: string): string {
  const isNegated = /^[!^]/.test(inside)
  const members = (isNegated ? inside.slice(1) : inside)
    .replaceAll(/\[:(\w+):\]/g, (_, name: string) => classes[name] ?? '')
    .replaceAll(/\\(.)|([[\]^])/g, (_, escaped: string | undefined, plain: string) => `\\${escaped ?? plain}`)
  return `(?!/)[${isNegated ? '^' : ''}${members}]`
}

const classes: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: ' \\t\\n\\r\\f\\v',
}

const literal = (text: string): string => text.replace(/[.+^${}()|[\]\\*?/]/g, '\\$&')
