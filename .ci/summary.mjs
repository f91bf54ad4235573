/**
 * Prints the failures of a run and its closing line from the logs of its steps: `node .ci/summary.mjs <exit code> <log file>...`.
 * Exits with the given code. The counts are the last totals that tap printed into each log. The last line of a log is
 * `==> <step>: exit <code>, <seconds> s`.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const totals = /^# \{ total: .*\}$/gm

/** Maximum number of lines that are printed for one failure. */
const maxBlockLines = 30

/**
 * Returns the closing line and the exit code of a run. A failed run shows at least one failure; a run without tests fails.
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
 * Returns the failures in the log of a step: its last line, and each `not ok` line with its diagnostic block. A log without
 * `not ok` lines yields its last lines. Returns an empty list if the step succeeded.
 *
 * @type {(log: string) => string[]}
 */
export function failures(log) {
  const lines = log.trimEnd().split('\n')
  const ended = lines.pop() ?? ''
  if (/^==> [\w-]+: exit 0,/.test(ended)) return []
  const blocks = lines.flatMap((line, at) => {
    if (!/^ *not ok (?!.* # (?:TODO|SKIP))/.test(line)) return []
    const indent = line.length - line.trimStart().length
    const opens = lines[at + 1] === `${' '.repeat(indent + 2)}---`
    const closes = lines.indexOf(`${' '.repeat(indent + 2)}...`, at)
    const ends = !opens ? at : closes === -1 ? lines.length : closes
    return lines.slice(at, Math.min(ends, at + maxBlockLines) + 1)
  })
  return [ended, ...(blocks.length > 0 ? blocks : lines.slice(-maxBlockLines))]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [code, ...files] = process.argv.slice(2)
  const logs = files.map((file) => readFileSync(file, 'utf8'))
  const result = summary(Number(code), logs)
  for (const line of logs.flatMap(failures)) console.log(line)
  console.log(result.line)
  process.exitCode = result.code
}
