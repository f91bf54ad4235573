/**
 * Prints the closing line of a run from the logs of its steps, and exits with the code given first:
 * `node .ci/summary.mjs <exit code> <log file>...`. The counts are tap's own, from the last totals of each log.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const totals = /^# \{ total: .*\}$/gm

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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [code, ...files] = process.argv.slice(2)
  const result = summary(
    Number(code),
    files.map((file) => readFileSync(file, 'utf8')),
  )
  console.log(result.line)
  process.exitCode = result.code
}
