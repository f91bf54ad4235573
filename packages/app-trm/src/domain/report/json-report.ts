/** The JSON reports of jest and mocha. */
import { isObject, type JsonObject } from '@causeway/protocol'
import { placed } from './location.ts'
import { cutMessage, runOf, type TestCase, type TestRun } from './test-run.ts'

/** The run that a JSON text tells of; undefined where it is the report of neither. */
export function readJsonReport(text: string): TestRun | undefined {
  let report: unknown
  try {
    report = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(report)) return undefined
  if (Array.isArray(report.testResults))
    return runOf('jest-json', objects(report.testResults).flatMap(jestFile))
  if (isObject(report.stats) && Array.isArray(report.tests)) return mochaRun(report)
  return undefined
}

/** A file that could not be loaded has no assertions: it is one error. */
function jestFile({ name, status, message, assertionResults }: JsonObject): TestCase[] {
  const file = String(name ?? '')
  const cases = objects(assertionResults)
  if (cases.length === 0 && status === 'failed')
    return [{ id: file, status: 'error', ...placed(cutMessage(String(message ?? ''))), file }]
  return cases.map(({ ancestorTitles, title, status: ended, failureMessages }) => {
    const id = [file, ...strings(ancestorTitles), String(title)].join(' > ')
    if (ended === 'passed') return { id, status: 'pass' as const }
    if (ended !== 'failed') return { id, status: 'skip' as const }
    return { id, status: 'fail' as const, ...placed(cutMessage(strings(failureMessages).join('\n'))) }
  })
}

function mochaRun({ tests, pending, failures }: JsonObject): TestRun {
  const keyOf = ({ file, fullTitle }: JsonObject): string =>
    [file, fullTitle].filter((part) => typeof part === 'string').join(' > ')
  const skipped = new Set(objects(pending).map(keyOf))
  const failed = new Map(objects(failures).map((one) => [keyOf(one), isObject(one.err) ? one.err : {}]))
  const cases = objects(tests).map((test): TestCase => {
    const id = keyOf(test)
    const failure = failed.get(id)
    if (failure !== undefined)
      return { id, status: 'fail', ...placed(cutMessage(String(failure.stack ?? failure.message ?? ''))) }
    return { id, status: skipped.has(id) ? 'skip' : 'pass' }
  })
  // A hook that failed is among the failures only.
  const known = new Set(cases.map(({ id }) => id))
  const hooks = [...failed].filter(([id]) => !known.has(id))
  const broken = hooks.map(
    ([id, failure]): TestCase => ({
      id,
      status: 'error',
      ...placed(cutMessage(String(failure.stack ?? failure.message ?? ''))),
    }),
  )
  return runOf('mocha-json', [...cases, ...broken])
}

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
