import { transformSync } from 'esbuild'

/** Lines of one file in a coverage report. */
export interface Lines {
  readonly total: number
  readonly covered: number
}

/** The least share of covered lines, in percent, of the files that a pattern matches. */
export interface Floor {
  readonly part: string
  readonly pattern: RegExp
  readonly percent: number
}

/** A source file with its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/**
 * Sums the coverage of each part and compares it with its floor: one line per part, and one failure per part below,
 * which names its worst files. The first floor whose pattern matches a file is the file's.
 */
export function judge(
  sources: readonly Source[],
  covered: ReadonlyMap<string, Lines>,
  floors: readonly Floor[],
): { lines: string[]; failures: string[] } {
  const counted = sources
    .map((source) => ({ path: source.path, ...(covered.get(source.path) ?? uncovered(source.text)) }))
    .map((file) => ({ ...file, floor: floors.find(({ pattern }) => pattern.test(file.path)) }))
  const parts = floors
    .map((floor) => ({ floor, files: counted.filter((file) => file.floor === floor) }))
    .map(({ floor, files }) => ({ floor, files, percent: share(files) }))
    .filter(({ files }) => files.length > 0)
  return {
    lines: parts.map(
      ({ floor, percent }) => `${floor.part}: ${percent.toFixed(1)} % of lines, floor ${floor.percent} %`,
    ),
    failures: parts
      .filter(({ floor, percent }) => percent < floor.percent)
      .map(({ floor, files }) => `${floor.part} is below its floor; worst: ${worst(files).join(', ')}`),
  }
}

function share(files: readonly Lines[]): number {
  const total = files.reduce((sum, file) => sum + file.total, 0)
  return total === 0 ? 100 : (100 * files.reduce((sum, file) => sum + file.covered, 0)) / total
}

/** The five files with the most uncovered lines. */
function worst(files: readonly (Lines & { path: string })[]): string[] {
  return files
    .map(({ path, total, covered }) => ({ path, missing: total - covered }))
    .filter(({ missing }) => missing > 0)
    .sort((a, b) => b.missing - a.missing)
    .slice(0, 5)
    .map(({ path, missing }) => `${path} (${missing})`)
}

/** A file that no test loaded: each line counts that is left of it once types, comments and re-exports are gone. */
function uncovered(text: string): Lines {
  const { code } = transformSync(text, { loader: 'ts', legalComments: 'none' })
  const body = code.replace(/^(import\s[^;]*|export\s*(\{[^}]*\}|\*)[^;]*);$/gm, '')
  return { total: body.split('\n').filter((line) => /\S/.test(line)).length, covered: 0 }
}
