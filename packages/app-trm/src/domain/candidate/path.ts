import { CausewayError } from '@causeway/protocol'

/** Longest path, in UTF-16 units. */
const longest = 1024

/**
 * The one spelling of a path that a candidate names: relative, forward slashes, no `.` and no empty parts. Throws
 * `INVALID_PATH` for what leads out of the project or into its `.git`; links are found where files are read.
 */
export function checkedPath(path: string): string {
  const reason = refusal(path)
  if (reason !== undefined) {
    throw new CausewayError('INVALID_PATH', `the path ${reason}: ${shown(path)}`, {
      data: { path: shown(path) },
    })
  }
  return parts(path).join('/')
}

function refusal(path: string): string | undefined {
  if (path.length > longest) return `is longer than ${longest} characters`
  if (/^([/\\~]|[a-z]:)/i.test(path)) return 'is not relative to the project'
  if (hasControl(path)) return 'holds a control character'
  if (path.includes('\\')) return 'holds a backslash'
  if (path.endsWith('/')) return 'names a folder'
  const found = parts(path)
  if (found.length === 0) return 'is empty'
  if (found.includes('..')) return 'leads out of the project'
  return found.some(isGitFolder) ? 'lies in the folder of the version control' : undefined
}

const parts = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

/** Also the spellings that file systems of other platforms take for `.git` (CVE-2014-9390, CVE-2019-1352). */
function isGitFolder(part: string): boolean {
  const plain = part
    .replace(/[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '')
  return /^(\.git|git~\d+)$/i.test(plain)
}

const hasControl = (text: string): boolean => [...text].some((letter) => letter < ' ' || letter === '\u007f')

const shown = (path: string): string => JSON.stringify(path.slice(0, 200)).slice(1, -1)
