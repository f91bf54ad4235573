import { XMLParser } from 'fast-xml-parser'
import { createRun, locateFailure, type TestCase, type TestRun, type TestStatus } from './test-run.ts'

/** Maximum length of a report, in characters. */
const maxLength = 20 * 2 ** 20

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // Only the five entities of XML and character references: declared entities could grow without bounds.
  processEntities: {
    enabled: true,
    maxEntityCount: 0,
    maxTotalExpansions: 1_000_000,
    maxExpandedLength: maxLength,
  },
  htmlEntities: false,
  isArray: (name) => ['testsuite', 'testcase', 'failure', 'error', 'skipped'].includes(name),
})

type Element = { readonly [name: string]: unknown }

/** Parses JUnit XML of pytest, node --test or vitest; `undefined` for other text. */
export function readJunit(xml: string): TestRun | undefined {
  if (xml.length > maxLength || /<!(DOCTYPE|ENTITY)/i.test(xml)) return undefined
  let root: Element
  try {
    root = parser.parse(xml) as Element
  } catch {
    return undefined
  }
  const top = root.testsuites ?? (root.testsuite === undefined ? undefined : root)
  return top === undefined ? undefined : createRun('junit', readCases(toElement(top), []))
}

function readCases(element: Element, suites: readonly string[]): TestCase[] {
  const cases = readChildren(element, 'testcase').map((one) => readCase(one, suites))
  const nested = readChildren(element, 'testsuite').flatMap((suite) =>
    readCases(suite, [...suites, readText(suite, '@name')]),
  )
  return [...cases, ...nested]
}

function readCase(element: Element, suites: readonly string[]): TestCase {
  const [failure] = readChildren(element, 'failure')
  const [error] = readChildren(element, 'error')
  const [skipped] = readChildren(element, 'skipped')
  const status = findStatus(skipped, failure, error)
  const id = createId(element, suites)
  const cause = failure ?? error
  if (cause === undefined || status === 'xfail') return { id, status }
  const place = locateFailure(readMessage(cause))
  const file = readText(element, '@file')
  return { id, status, ...place, ...(place.file === undefined && file !== '' ? { file } : {}) }
}

function findStatus(skipped?: Element, failure?: Element, error?: Element): TestStatus {
  if (skipped !== undefined) return /xfail|todo/i.test(readText(skipped, '@type')) ? 'xfail' : 'skip'
  if (error !== undefined) return 'error'
  return failure === undefined ? 'pass' : 'fail'
}

function createId(element: Element, suites: readonly string[]): string {
  const [name, owner, file] = ['@name', '@classname', '@file'].map((key) => readText(element, key))
  // Node writes `test` or the name of the group, vitest the name of the file: the suite that contains the test.
  if (owner === 'test' || owner === suites.at(-1))
    return [...(file === '' ? [] : [file]), ...suites, name].join(' > ')
  return owner === '' ? `${name}` : `${owner}::${name}`
}

function readMessage(element: Element): string {
  const [message, body] = [readText(element, '@message'), readText(element, '#text').trim()]
  if (body === '') return message
  return message === '' || body.includes(message.split('\n')[0] ?? '') ? body : `${message}\n${body}`
}

const toElement = (value: unknown): Element =>
  typeof value === 'object' && value !== null ? (value as Element) : { '#text': String(value) }

function readChildren(element: Element, name: string): Element[] {
  const value = element[name]
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(toElement)
}

function readText(element: Element, name: string): string {
  const value = element[name]
  return typeof value === 'string' ? value : ''
}
