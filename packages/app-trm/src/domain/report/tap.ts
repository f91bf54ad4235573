/** The Test Anything Protocol, as tape, tap and node --test write it. */
import { Parser } from 'tap-parser'
import { placed } from './location.ts'
import { cutMessage, runOf, type TestCase, type TestRun } from './test-run.ts'

/** The run that TAP in an output tells of; undefined where there is none. */
export function readTap(output: string): TestRun | undefined {
  if (!/^TAP version 1[34]$/m.test(output)) return undefined
  const begin = output.search(/^TAP version 1[34]$/m)
  const cases: TestCase[] = []
  const parser = new Parser({ bail: false, preserveWhitespace: false })
  follow(parser, [], cases)
  parser.end(output.slice(begin))
  return cases.length === 0 && !/^1\.\.0/m.test(output) ? undefined : runOf('tap', cases)
}

/** Collects the assertions of a test and of those within it. A test that has assertions of its own is not counted. */
function follow(parser: Parser, path: readonly string[], cases: TestCase[]): void {
  const state = { group: '', child: { name: '', count: 0, failures: 0 } }
  parser.on('comment', (comment: string) => {
    const name = comment.replace(/^# */, '').trim()
    if (
      !name.startsWith('Subtest:') &&
      !/^(tests|pass|fail|ok|skip|todo|duration_ms|cancelled|suites)\b/.test(name)
    )
      state.group = name
  })
  parser.on('child', (child: Parser) => {
    const before = cases.length
    follow(child, [...path, child.name ?? ''], cases)
    child.on('complete', () => {
      const made = cases.slice(before)
      state.child = {
        name: child.name ?? '',
        count: made.length,
        failures: made.filter(({ status }) => status === 'fail').length,
      }
    })
  })
  parser.on('assert', (result) => {
    const { child } = state
    const isParent = child.count > 0 && (result.name === child.name || child.name === '')
    state.child = { name: '', count: 0, failures: 0 }
    if (isParent && (result.ok || child.failures > 0)) return
    const names = [
      ...path,
      ...(state.group === '' ? [] : [state.group]),
      result.name || `assertion ${result.id}`,
    ]
    cases.push({ id: names.filter((name) => name !== '').join(' > '), ...verdict(result) })
  })
}

interface Verdict {
  readonly ok: boolean
  readonly name: string
  readonly skip?: boolean | string | undefined
  readonly todo?: boolean | string | undefined
  readonly diag?: unknown
}

function verdict({ ok, name, skip, todo, diag }: Verdict): Omit<TestCase, 'id'> {
  if (isSet(skip)) return { status: 'skip' }
  if (isSet(todo)) return { status: ok ? 'pass' : 'xfail' }
  if (ok) return { status: 'pass' }
  return { status: 'fail', ...located(cutMessage(diagnosis(name, diag)), diag) }
}

const isSet = (mark: boolean | string | undefined): boolean => mark !== undefined && mark !== false

function diagnosis(name: string, diag: unknown): string {
  if (typeof diag !== 'object' || diag === null) return name
  const { error, expected, actual, stack, at } = diag as Record<string, unknown>
  const lines = [
    typeof error === 'string' ? error : name,
    ...(expected === undefined && actual === undefined
      ? []
      : [`expected: ${shown(expected)}`, `actual: ${shown(actual)}`]),
    ...(typeof at === 'string' ? [`at: ${at}`] : []),
    ...(typeof stack === 'string' ? [stack] : []),
  ]
  return lines.join('\n')
}

/** tape says `at`, node `location`; both are nearer than the first frame of a stack. */
function located(message: string, diag: unknown) {
  const { at, location } = (diag ?? {}) as Record<string, unknown>
  const told = typeof location === 'string' ? `at ${location}` : typeof at === 'string' ? at : undefined
  const place = placed(told ?? message)
  return place.file === undefined ? placed(message) : { ...place, message }
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
