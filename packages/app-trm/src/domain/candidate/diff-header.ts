/** A file's header in a diff. The paths include git's prefixes. */
export interface DiffHeader {
  /** Previous path. `undefined` if the header does not contain it, `null` for `/dev/null`. */
  readonly from: string | null | undefined
  readonly to: string | null | undefined
  /** Whether the paths come from `rename` lines, which have no prefixes. */
  readonly isRename: boolean
  /** Git's mode of the new file, such as `100755`. */
  readonly mode: string | undefined
  readonly isBinary: boolean
}

export const emptyHeader: DiffHeader = {
  from: undefined,
  to: undefined,
  isRename: false,
  mode: undefined,
  isBinary: false,
}

/** Whether the `---` and `+++` lines of a file start at an index. */
export const isFileHeader = (lines: readonly string[], index: number): boolean =>
  /^--- \S/.test(lines[index] ?? '') && /^\+\+\+ \S/.test(lines[index + 1] ?? '')

/** Adds the paths of `---` and `+++` unless `rename` lines have already provided them. */
export function addFileHeader(header: DiffHeader, [from = '', to = '']: readonly string[]): DiffHeader {
  if (header.isRename) return header
  return { ...header, from: parseHeaderPath(from.slice(4)), to: parseHeaderPath(to.slice(4)) }
}

export function addHeaderLine(header: DiffHeader, line: string): DiffHeader {
  if (/^(GIT binary patch|Binary files .* differ)$/.test(line)) return { ...header, isBinary: true }
  const [, keyword, value = ''] =
    /^(diff --git|rename (?:from|to)|(?:new file|deleted file|new) mode) (.+)$/.exec(line) ?? []
  switch (keyword) {
    case 'diff --git': {
      const [from, to] = parseGitPaths(value)
      return { ...header, from, to }
    }
    case 'rename from':
      return { ...header, isRename: true, from: unquote(value) }
    case 'rename to':
      return { ...header, isRename: true, to: unquote(value) }
    case 'new file mode':
      return { ...header, from: null, mode: value.trim() }
    case 'deleted file mode':
      return { ...header, to: null }
    case 'new mode':
      return { ...header, mode: value.trim() }
    default:
      return header
  }
}

/** Removes git's prefixes from both paths: `a/`, `b/` and those of `diff.mnemonicPrefix`. */
export function stripPrefixes({ from, to, isRename }: DiffHeader): Pick<DiffHeader, 'from' | 'to'> {
  const hasPrefixes = !isRename && [from, to].every((path) => path == null || /^[abciow]\//.test(path))
  if (!hasPrefixes || (from == null && to == null)) return { from, to }
  // If both prefixes are equal, they are a folder of the project.
  if (from != null && to != null && from[0] === to[0]) return { from, to }
  return { from: from?.slice(2) ?? from, to: to?.slice(2) ?? to }
}

function parseGitPaths(text: string): [string, string] {
  const match = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(text)
  if (match) return [unquote(match[1] ?? ''), unquote(match[2] ?? '')]
  // The paths contain spaces. Both have the same length unless later lines rename the file.
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle + 1)]
}

function parseHeaderPath(text: string): string | null {
  const path = text.startsWith('"') ? unquote(text) : (text.split('\t')[0] ?? '').trim()
  return path === '/dev/null' ? null : path
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Decodes a path quoted by git: a C string with non-ASCII bytes in octal. */
function unquote(path: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"/.exec(path) ?? []
  if (inner === undefined) return path
  return inner.replace(/((?:\\[0-7]{3})+)|\\(.)/g, (_all, octal: string | undefined, letter: string) => {
    if (octal === undefined) return escapes[letter] ?? letter
    const bytes = octal.split('\\').slice(1)
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 8)))
  })
}
