/**
 * Fails if the last test run covered fewer lines of a part of the tree than its floor. tap's floors are global and ignore
 * files that no test loads; here each source file counts, and a file without coverage data counts as uncovered.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** Floors in percent of lines; the first matching one applies. */
const floors: readonly Floor[] = [
  { part: 'packages/protocol/src', pattern: /^packages\/protocol\/src\//, percent: 100 },
  { part: 'packages/*/src/domain', pattern: /^packages\/[^/]+\/src\/domain\//, percent: 95 },
  { part: 'other sources', pattern: /./, percent: 90 },
]

/** Entry points without logic. They run in child processes that are killed before they write coverage. */
const exempt = new Set(['server/src/main.ts', 'bridge/src/main.ts'])

/** Line counts of a file in a coverage report. */
interface Lines {
  readonly total: number
  readonly covered: number
}

/** Minimum percentage of covered lines in the files that a pattern matches. */
interface Floor {
  readonly part: string
  readonly pattern: RegExp
  readonly percent: number
}

/** A source file with its text. */
interface Source {
  readonly path: string
  readonly text: string
}

/**
 * Compares the coverage of each part with its floor. Returns one line per part, and one failure with the worst files for each
 * part below its floor.
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

/** Returns the five files with the most uncovered lines. */
function worst(files: readonly (Lines & { path: string })[]): string[] {
  return files
    .map(({ path, total, covered }) => ({ path, missing: total - covered }))
    .filter(({ missing }) => missing > 0)
    .sort((a, b) => b.missing - a.missing)
    .slice(0, 5)
    .map(({ path, missing }) => `${path} (${missing})`)
}

/** Counts the lines of a file that no test loaded, without types, comments and re-exports. */
function uncovered(text: string): Lines {
  const { code } = transformSync(text, { loader: 'ts', legalComments: 'none' })
  const body = code.replace(/^(import\s[^;]*|export\s*(\{[^}]*\}|\*)[^;]*);$/gm, '')
  return { total: body.split('\n').filter((line) => /\S/.test(line)).length, covered: 0 }
}

if (process.argv[1] === import.meta.filename) {
  execFileSync(process.execPath, ['node_modules/tap/dist/esm/run.mjs', 'report', 'json-summary'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const report: Record<string, { lines: Lines }> = JSON.parse(
    readFileSync(`${root}/.tap/report/coverage-summary.json`, 'utf8'),
  )
  const covered = new Map(Object.entries(report).map(([path, { lines }]) => [relative(root, path), lines]))
  const sources = globSync('{packages/*,server,bridge}/src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.d.ts') && !exempt.has(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }))

  const { lines, failures } = judge(sources, covered, floors)
  process.stderr.write([...lines, ...failures].map((line) => `  ${line}\n`).join(''))
  process.exitCode = failures.length === 0 ? 0 : 1
}
