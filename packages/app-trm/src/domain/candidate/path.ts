import { isObject } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'

/** In UTF-16 units. */
const maxLength = 1024

/**
 * Normalizes a relative path: forward slashes, no `.` and no empty parts. Throws `INVALID_PATH` if the path leaves
 * the project or is in `.git`. Links are checked when files are read.
 */
export function normalizePath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  const problem = findProblem(path, segments)
  if (problem === undefined) return segments.join('/')
  const shownPath = JSON.stringify(path.slice(0, 200)).slice(1, -1)
  throw new TrmError('INVALID_PATH', `the path ${problem}: ${shownPath}`, { data: { path: shownPath } })
}

/** Makes absolute paths below a root relative, also in diff headers. */
export function removeRoots(input: unknown, roots: readonly string[]): unknown {
  if (Array.isArray(input)) return input.map((item) => removeRoots(item, roots))
  if (!isObject(input)) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (typeof value !== 'string') return [name, removeRoots(value, roots)]
      if (name === 'path' || name === 'file') return [name, removeRoot(value, roots)]
      return [name, name === 'diff' || name === 'patch' ? removeHeaderRoots(value, roots) : value]
    }),
  )
}

export function removeRoot(path: string, roots: readonly string[]): string {
  const root = roots.find((folder) => path.startsWith(`${folder}/`))
  return root === undefined ? path : path.slice(root.length + 1)
}

/** Changes only adjacent `---` and `+++` lines, because an added line may begin with `++ /`. */
const removeHeaderRoots = (diff: string, roots: readonly string[]): string =>
  diff.replace(/^--- .*\n\+\+\+ .*$/gm, (headerLines) =>
    headerLines.replace(/^((?:---|\+\+\+) )(?:[ab](?=\/))?(\/.*)$/gm, (line, mark: string, path: string) => {
      const relative = removeRoot(path, roots)
      return relative === path ? line : `${mark}${relative}`
    }),
  )

function findProblem(path: string, segments: readonly string[]): string | undefined {
  if (path.length > maxLength) return `is longer than ${maxLength} characters`
  if (/^([/\\~]|[a-z]:)/i.test(path)) return 'is not relative to the project'
  if ([...path].some((letter) => letter < ' ' || letter === '\u007f')) return 'contains a control character'
  if (path.includes('\\')) return 'contains a backslash'
  if (path.endsWith('/')) return 'names a folder'
  if (segments.length === 0) return 'is empty'
  if (segments.includes('..')) return 'leaves the project'
  return segments.some(isGitFolder) ? 'is in the folder of the version control' : undefined
}

/** Whether a file system can treat a name as `.git` (CVE-2014-9390, CVE-2019-1352). */
function isGitFolder(segment: string): boolean {
  const visibleName = segment
    .replace(/[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '')
  return /^(\.git|git~\d+)$/i.test(visibleName)
}
