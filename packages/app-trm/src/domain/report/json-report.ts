import { isObject, type JsonObject } from '@causeway/protocol'
import { createRun, locateFailure, type TestCase, type TestRun } from './test-run.ts'

/** Parses a JSON report of jest; `undefined` for other text. */
export function readJsonReport(text: string): TestRun | undefined {
  let report: unknown
  try {
    report = JSON.parse(text)
  } catch {
    return undefined
  }
  return isObject(report) && Array.isArray(report.testResults)
    ? createRun('jest-json', objects(report.testResults).flatMap(readJestFile))
    : undefined
}

/** A file that could not be loaded has no assertions and is one error. */
function readJestFile({ name, status, message, assertionResults }: JsonObject): TestCase[] {
  const file = String(name ?? '')
  const cases = objects(assertionResults)
  if (cases.length === 0 && status === 'failed')
    return [{ id: file, status: 'error', ...locateFailure(String(message ?? '')), file }]
  return cases.map(({ ancestorTitles, title, status: ended, failureMessages }) => {
    const id = [file, ...strings(ancestorTitles), String(title)].join(' > ')
    if (ended === 'passed') return { id, status: 'pass' as const }
    if (ended !== 'failed') return { id, status: 'skip' as const }
    return { id, status: 'fail' as const, ...locateFailure(strings(failureMessages).join('\n')) }
  })
}

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
