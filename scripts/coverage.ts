/**
 * Fails when the last test run covered fewer lines of a part of the tree than its floor. tap's own floors are global and
 * leave out files that no test loads; here each source file counts, and an absent one as wholly uncovered.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Floor, judge, type Lines } from './coverage/judge.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** The first matching floor decides, in percent of lines. */
const floors: readonly Floor[] = [
  { part: 'packages/protocol/src', pattern: /^packages\/protocol\/src\//, percent: 100 },
  { part: 'packages/*/src/domain', pattern: /^packages\/[^/]+\/src\/domain\//, percent: 95 },
  { part: 'the rest', pattern: /./, percent: 90 },
]

/** Programs that only wire and exit; they run as processes of their own, killed before coverage is written. */
const exempt = new Set(['server/src/main.ts', 'bridge/src/main.ts'])

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
