import { escapePattern } from '../format.ts'

/** A project path that is missing in the work copy. */
export interface AbsentPath {
  readonly path: string
  readonly isFolder: boolean
  readonly isRepository: boolean
}

/** Maximum number of characters read from the end of an output, and of returned paths. */
const [maxTextLength, maxPaths] = [100_000, 5]

/** Returns up to five paths that occur in outputs, either as paths or as Python modules. */
export function findNamedPaths(
  paths: readonly AbsentPath[],
  outputs: readonly string[],
): readonly AbsentPath[] {
  const text = outputs.map((output) => output.slice(-maxTextLength)).join('\n')
  const isNamed = ({ path, isFolder }: AbsentPath): boolean => {
    const module = path.replace(/\.py$/, '').replaceAll('/', '.')
    const end = isFolder ? '[/\'"]' : '(?!\\w|\\.\\w)'
    return new RegExp(
      `(?<![\\w/.-])(?:\\.{1,2}/)*${escapePattern(path)}${end}|['"]${escapePattern(module)}['".]`,
    ).test(text)
  }
  return paths.filter(isNamed).slice(0, maxPaths)
}

export function warnAbsent(absent: readonly AbsentPath[]): readonly string[] {
  if (absent.length === 0) return []
  const descriptions = absent.map(
    ({ path, isRepository }) => `${path} (${isRepository ? 'another repository' : 'ignored'})`,
  )
  return [
    `not in the copy of the project: ${descriptions.join(', ')}; ${formatLink(absent.map(({ path }) => path))}`,
  ]
}

export const formatLink = (paths: readonly string[]): string =>
  `start again with options.link ${JSON.stringify(paths)}`
