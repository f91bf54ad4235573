/** A project path that is missing in the copy in which commands run. */
export interface AbsentPath {
  readonly path: string
  readonly isRepository: boolean
}

/** Characters read from the end of an output, and paths examined. */
const [maxText, maxPaths] = [100_000, 2000]

const moduleError = /(?:No module named|Cannot find (?:module|package)|cannot import name) ['"]([^'"]+)['"]/gi

/** Returns the relative paths named in outputs, and those of modules that were not found. */
export function findNamedPaths(outputs: readonly string[]): readonly string[] {
  const text = outputs.map((output) => output.slice(-maxText)).join('\n')
  const modules = [...text.matchAll(moduleError)].flatMap(([, name = '']) => {
    const path = name.includes('/') ? name : name.replaceAll('.', '/')
    return [path, `${path}.py`]
  })
  const words = text.split(/[\s'"`(),:;=<>[\]]+/).filter((word) => /[./]/.test(word) && !word.startsWith('/'))
  const paths = [...modules, ...words].map((word) =>
    word.replace(/^(?:\.{1,2}\/)+/, '').replace(/[./]+$/, ''),
  )
  return [...new Set(paths)]
    .filter((path) => path !== '' && !path.split('/').includes('..'))
    .slice(0, maxPaths)
}

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
