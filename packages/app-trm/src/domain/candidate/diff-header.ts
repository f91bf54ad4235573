/** What the lines above the hunks of a unified diff say of a file. */

/** A file as the headers name it, with the prefixes of git still on. */
export interface DiffHeader {
  /** Path before; undefined where no header names it, null for `/dev/null`. */
  readonly from: string | null | undefined
  /** Path after. */
  readonly to: string | null | undefined
  readonly isCopy: boolean
  /** True where `rename` or `copy` lines, which have no prefixes, name the paths. */
  readonly isBare: boolean
  /** Git's mode of the file after, as in `100755`. */
  readonly mode: string | undefined
  readonly isBinary: boolean
}

/** The header of a file of which nothing is known yet. */
export const blankHeader: DiffHeader = {
  from: undefined,
  to: undefined,
  isCopy: false,
  isBare: false,
  mode: undefined,
  isBinary: false,
}

/** True where `---` and `+++` name a file. */
export const isFilePair = (lines: readonly string[], at: number): boolean =>
  /^--- \S/.test(lines[at] ?? '') && /^\+\+\+ \S/.test(lines[at + 1] ?? '')

/** The header with the paths of `---` and `+++`, unless these are known better. */
export function withFilePair(header: DiffHeader, [old = '', now = '']: readonly string[]): DiffHeader {
  const [from, to] = [headerPath(old.slice(4)), headerPath(now.slice(4))]
  return header.isBare ? header : { ...header, from, to }
}

/** The header with what one more line of git's says. */
export function withLine(header: DiffHeader, line: string): DiffHeader {
  if (/^(GIT binary patch|Binary files .* differ)$/.test(line)) return { ...header, isBinary: true }
  const [, word, rest = ''] =
    /^(diff --git|(?:rename|copy) (?:from|to)|(?:new file|deleted file|new) mode) (.+)$/.exec(line) ?? []
  switch (word) {
    case 'diff --git': {
      const [from, to] = gitPaths(rest)
      return { ...header, from, to }
    }
    case 'rename from':
      return { ...header, isBare: true, from: unquoted(rest) }
    case 'copy from':
      return { ...header, isBare: true, from: unquoted(rest), isCopy: true }
    case 'rename to':
    case 'copy to':
      return { ...header, isBare: true, to: unquoted(rest) }
    case 'new file mode':
      return { ...header, from: null, mode: rest.trim() }
    case 'deleted file mode':
      return { ...header, to: null }
    case 'new mode':
      return { ...header, mode: rest.trim() }
    default:
      return header
  }
}

/** Both paths without the prefixes of git (`a/`, `b/` and those of `diff.mnemonicPrefix`). */
export function plainPaths({ from, to, isBare }: DiffHeader): Pick<DiffHeader, 'from' | 'to'> {
  const isPrefixed = !isBare && [from, to].every((path) => path == null || /^[abciow]\//.test(path))
  if (!isPrefixed || (from == null && to == null)) return { from, to }
  // Equal prefixes are folders of the project.
  if (from != null && to != null && from[0] === to[0]) return { from, to }
  return { from: from?.slice(2) ?? from, to: to?.slice(2) ?? to }
}

/** Both paths of `diff --git`. */
function gitPaths(rest: string): [string, string] {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(rest)
  if (quoted) return [unquoted(quoted[1] ?? ''), unquoted(quoted[2] ?? '')]
  // Paths with blanks: both halves are equally long unless the file is renamed, which further lines tell.
  const middle = rest.length >> 1
  return [rest.slice(0, middle), rest.slice(middle + 1)]
}

/** A path of `---` or `+++`, which a tab and a time may follow. */
function headerPath(rest: string): string | null {
  const path = rest.startsWith('"') ? unquoted(rest) : (rest.split('\t')[0] ?? '').trim()
  return path === '/dev/null' ? null : path
}

const letters: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Git quotes paths as C strings, bytes beyond ASCII in octal. */
function unquoted(path: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"/.exec(path) ?? []
  if (inner === undefined) return path
  return inner.replace(/((?:\\[0-7]{3})+)|\\(.)/g, (_all, octal: string | undefined, letter: string) => {
    if (octal === undefined) return letters[letter] ?? letter
    const bytes = octal.split('\\').slice(1)
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 8)))
  })
}
