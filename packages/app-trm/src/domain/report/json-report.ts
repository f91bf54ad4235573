import { isObject, type JsonObject } from '@causeway/protocol'
import { parseObject } from '../parse-object.ts'
import { createRun, locateFailure, type TestCase, type TestRun } from './test-run.ts'

/** Parses a JSON report of jest or mocha. */
export function readJsonReport(text: string): TestRun | undefined {
  const report = parseObject(text)
  if (Array.isArray(report.testResults))
    return createRun('jest-json', listObjects(report.testResults).flatMap(readJestFile))
  if (isObject(report.stats) && Array.isArray(report.tests)) return readMocha(report)
  return undefined
}

/** A file that could not be loaded has no assertions and counts as an error. */
function readJestFile({ name, status, message, assertionResults }: JsonObject): TestCase[] {
  const file = String(name ?? '')
  const cases = listObjects(assertionResults)
  if (cases.length === 0 && status === 'failed')
    return [{ id: file, status: 'error', ...locateFailure(String(message ?? '')), file }]
  return cases.map(({ ancestorTitles, title, status: testStatus, failureMessages }) => {
    const id = [file, ...listStrings(ancestorTitles), String(title)].join(' > ')
    if (testStatus === 'passed') return { id, status: 'pass' as const }
    if (testStatus !== 'failed') return { id, status: 'skip' as const }
    return { id, status: 'fail' as const, ...locateFailure(listStrings(failureMessages).join('\n')) }
  })
}

function readMocha({ tests, pending, failures }: JsonObject): TestRun {
  const toId = ({ file, fullTitle }: JsonObject): string =>
    [file, fullTitle].filter((value) => typeof value === 'string').join(' > ')
  const toFailure = ({ err }: JsonObject) => {
    const { stack, message } = isObject(err) ? err : {}
    return locateFailure(String(stack ?? message ?? ''))
  }
  const skippedIds = new Set(listObjects(pending).map(toId))
  const failureById = new Map(listObjects(failures).map((failure) => [toId(failure), toFailure(failure)]))
  const cases = listObjects(tests).map((test): TestCase => {
    const id = toId(test)
    const failure = failureById.get(id)
    if (failure !== undefined) return { id, status: 'fail', ...failure }
    return { id, status: skippedIds.has(id) ? 'skip' : 'pass' }
  })
  // A failed hook is listed only among the failures.
  const caseIds = new Set(cases.map(({ id }) => id))
  const hooks = [...failureById].filter(([id]) => !caseIds.has(id))
  return createRun('mocha-json', [
    ...cases,
    ...hooks.map(([id, failure]): TestCase => ({ id, status: 'error', ...failure })),
  ])
}

const listObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const listStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
