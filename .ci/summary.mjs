/**
 * Prints the failures of a run once more and its closing line from the logs of its steps, and exits with the code given
 * first: `node .ci/summary.mjs <exit code> <log file>...`. The counts are tap's own, from the last totals of each log,
 * whose last line says how its step ended: `==> <step>: exit <code>, <seconds> s`.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const totals = /^# \{ total: .*\}$/gm

/** The most lines that are repeated of one failure. */
const longestBlock = 30

/**
 * The closing line and the exit code of a run. A run that failed shows at least one failure, and a run in which nothing
 * was tested failed.
 *
 * @type {(code: number, logs: readonly string[]) => { line: string, code: number }}
 */
export function summary(code, logs) {
  const last = logs.map((log) => log.match(totals)?.at(-1) ?? '')
  const count = (name) =>
    last.reduce((sum, line) => sum + Number(new RegExp(`${name}: (\\d+)`).exec(line)?.[1] ?? 0), 0)
  const [passed, failed, skipped, todo] = ['pass', 'fail', 'skip', 'todo'].map(count)
  const exit = code === 0 && (passed === 0 || failed > 0) ? 1 : code
  const shown = exit !== 0 && failed === 0 ? 1 : failed
  const extra = [skipped > 0 ? `, ${skipped} skipped` : '', todo > 0 ? `, ${todo} todo` : ''].join('')
  return { line: `${passed} passed, ${shown} failed${extra}`, code: exit }
}

/**
 * What the log of a step tells of its failure: how it ended, and each `not ok` line with its block, from the assertion
 * up to its file, or the end of a log that has none. Nothing where the step went well.
 *
 * @type {(log: string) => string[]}
 */
export function failures(log) {
  const lines = log.trimEnd().split('\n')
  const ended = lines.pop() ?? ''
  if (/^==> [\w-]+: exit 0,/.test(ended)) return []
  const told = lines.flatMap((line, at) => {
    if (!/^ *not ok (?!.* # (?:TODO|SKIP))/.test(line)) return []
    const indent = line.length - line.trimStart().length
    const opens = lines[at + 1] === `${' '.repeat(indent + 2)}---`
    const closes = lines.indexOf(`${' '.repeat(indent + 2)}...`, at)
    const ends = !opens ? at : closes === -1 ? lines.length : closes
    return lines.slice(at, Math.min(ends, at + longestBlock) + 1)
  })
  return [ended, ...(told.length > 0 ? told : lines.slice(-longestBlock))]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [code, ...files] = process.argv.slice(2)
  const logs = files.map((file) => readFileSync(file, 'utf8'))
  const result = summary(Number(code), logs)
  for (const line of logs.flatMap(failures)) console.log(line)
  console.log(result.line)
  process.exitCode = result.code
}
