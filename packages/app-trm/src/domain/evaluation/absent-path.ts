/** A file or folder of the project that the copy in which commands run does not have. */
export interface AbsentPath {
  /** The topmost folder that is absent, or the file. */
  readonly path: string
  readonly isRepository: boolean
  /** Files in the folder, or the file itself. */
  readonly files: readonly string[]
}

/** Maximum characters of an output that are read, from its end. */
const maxText = 100_000

const moduleError = /(?:No module named|Cannot find (?:module|package)|cannot import name) ['"]([^'"]+)['"]/gi

const getName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Returns the absent paths that the outputs of commands name. */
export function findNamedPaths(
  absent: readonly AbsentPath[],
  outputs: readonly string[],
): readonly AbsentPath[] {
  const text = outputs.map((output) => output.slice(-maxText)).join('\n')
  const words = text
    .split(/[\s'"`(),:;=<>[\]]+/)
    .filter((word) => /[./]/.test(word) && !word.startsWith('/'))
    .map((word) => word.replace(/^(?:\.{1,2}\/)+/, '').replace(/\.$/, ''))
  const [paths, names] = [new Set(words), new Set(words.map(getName))]
  const modules = new Set([...text.matchAll(moduleError)].flatMap(([, name = '']) => name.split(/[./]/)))
  const isFileNamed = (file: string): boolean =>
    names.has(getName(file)) || modules.has(getName(file).replace(/\.\w+$/, ''))
  const isFolderNamed = (path: string): boolean =>
    modules.has(getName(path)) || [...paths].some((word) => word === path || word.startsWith(`${path}/`))
  return absent.filter(({ path, files }) => isFolderNamed(path) || files.some(isFileNamed))
}

/** Warns about absent paths, with the option that adds them. */
export function warnAbsent(absent: readonly AbsentPath[]): readonly string[] {
  if (absent.length === 0) return []
  const listed = absent.map(
    ({ path, isRepository }) => `${path} (${isRepository ? 'another repository' : 'ignored'})`,
  )
  return [
    `not in the copy of the project: ${listed.join(', ')}; ${formatLink(absent.map(({ path }) => path))}`,
  ]
}

export const formatLink = (paths: readonly string[]): string =>
  `start again with options.link ${JSON.stringify(paths)}`
