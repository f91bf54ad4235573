import { XMLParser } from 'fast-xml-parser'
import { createPytestId } from './pytest-id.ts'
import { createRun, locateFailure, type TestCase, type TestRun, type TestStatus } from './test-run.ts'

const maxLength = 20 * 2 ** 20

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  htmlEntities: false,
  cdataPropName: '#cdata',
  isArray: (name) => ['testsuite', 'testcase', 'failure', 'error', 'skipped'].includes(name),
})

type Element = { readonly [name: string]: unknown }

/** Parses JUnit XML of pytest, node --test or vitest. Returns `undefined` for other text. */
export function readJunit(xml: string): TestRun | undefined {
  if (xml.length > maxLength || /<!(DOCTYPE|ENTITY)/i.test(xml)) return undefined
  let root: Element
  try {
    root = parser.parse(xml) as Element
  } catch {
    return undefined
  }
  const rootSuite = root.testsuites ?? (root.testsuite === undefined ? undefined : root)
  if (rootSuite === undefined) return undefined
  const foundCases = listCases(toElement(rootSuite), [])
  const files = new Set(foundCases.map(({ element }) => readText(element, '@file')))
  return createRun(
    'junit',
    foundCases.map((foundCase) => readCase(foundCase, files)),
  )
}

interface FoundCase {
  readonly element: Element
  readonly suites: readonly string[]
}

function listCases(element: Element, suites: readonly string[]): FoundCase[] {
  const cases = readChildren(element, 'testcase').map((testCase) => ({ element: testCase, suites }))
  const nestedCases = readChildren(element, 'testsuite').flatMap((suite) =>
    listCases(suite, [...suites, readText(suite, '@name')]),
  )
  return [...cases, ...nestedCases]
}

function readCase({ element, suites }: FoundCase, files: ReadonlySet<string>): TestCase {
  const [failure] = readChildren(element, 'failure')
  const [error] = readChildren(element, 'error')
  const [skipped] = readChildren(element, 'skipped')
  const status = findStatus(skipped, failure, error)
  const id = createId(element, suites, files)
  const cause = failure ?? error
  if (cause === undefined || status === 'xfail') return { id, status }
  const location = locateFailure(readMessage(cause))
  const file = readText(element, '@file')
  return { id, status, ...location, ...(location.file === undefined && file !== '' ? { file } : {}) }
}

function findStatus(skipped?: Element, failure?: Element, error?: Element): TestStatus {
  if (skipped !== undefined) return /xfail|todo/i.test(readText(skipped, '@type')) ? 'xfail' : 'skip'
  if (error !== undefined) return 'error'
  return failure === undefined ? 'pass' : 'fail'
}

function createId(element: Element, suites: readonly string[], files: ReadonlySet<string>): string {
  const [name = '', owner = '', file = ''] = ['@name', '@classname', '@file'].map((key) =>
    readText(element, key),
  )
  if (suites.at(-1) === 'pytest') return createPytestId({ name, owner, file }, files)
  // The class name is `test` or the group's name in Node, and the file's name in vitest.
  if (owner === 'test' || owner === suites.at(-1))
    return [...(file === '' ? [] : [file]), ...suites, name].join(' > ')
  return owner === '' ? `${name}` : `${owner}::${name}`
}

function readMessage(element: Element): string {
  const text = `${readText(element, '#text')}${readText(element, '#cdata', false)}`
  const [message, body] = [readText(element, '@message'), text.trim()]
  if (body === '') return message
  return message === '' || body.includes(message.split('\n')[0] ?? '') ? body : `${message}\n${body}`
}

const toElement = (value: unknown): Element =>
  typeof value === 'object' && value !== null ? (value as Element) : { '#text': String(value) }

function readChildren(element: Element, name: string): Element[] {
  const value = element[name]
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(toElement)
}

function readText(element: Element, name: string, isEscaped = true): string {
  const value = element[name]
  if (typeof value !== 'string') return ''
  return isEscaped ? decodeEntities(value) : value
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Decodes XML's five entities and character references. Other entities remain. */
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (reference, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? reference
    const codePoint = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return codePoint > 0x10ffff ? reference : String.fromCodePoint(codePoint)
  })
