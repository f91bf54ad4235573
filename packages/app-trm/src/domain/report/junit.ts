/** JUnit XML, as pytest, node --test and vitest write it. */
import { XMLParser } from 'fast-xml-parser'
import { placed } from './location.ts'
import { cutMessage, runOf, type TestCase, type TestRun, type TestStatus } from './test-run.ts'

/** Largest report that is read, characters. */
const mostXml = 20 * 2 ** 20

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // Only the five entities of XML and numbers: a declaration of others could grow without bounds.
  processEntities: {
    enabled: true,
    maxEntityCount: 0,
    maxTotalExpansions: 1_000_000,
    maxExpandedLength: mostXml,
  },
  htmlEntities: false,
  isArray: (name) => ['testsuite', 'testcase', 'failure', 'error', 'skipped'].includes(name),
})

type Element = { readonly [name: string]: unknown }

/** The run that a report tells of; undefined for what is no such report, or too large. */
export function readJunit(xml: string): TestRun | undefined {
  if (xml.length > mostXml || /<!(DOCTYPE|ENTITY)/i.test(xml)) return undefined
  let root: Element
  try {
    root = parser.parse(xml) as Element
  } catch {
    return undefined // cut short, or no XML
  }
  const top = root.testsuites ?? (root.testsuite === undefined ? undefined : root)
  if (top === undefined) return undefined
  return runOf('junit', casesIn(asElement(top), []))
}

function casesIn(element: Element, suites: readonly string[]): TestCase[] {
  const cases = list(element.testcase).map((one) => caseOf(one, suites))
  const inner = list(element.testsuite).flatMap((suite) => casesIn(suite, [...suites, text(suite, '@name')]))
  return [...cases, ...inner]
}

function caseOf(element: Element, suites: readonly string[]): TestCase {
  const [failure] = list(element.failure)
  const [error] = list(element.error)
  const [skipped] = list(element.skipped)
  const status = statusOf(skipped, failure, error)
  const told = failure ?? error
  const message = told === undefined || status === 'xfail' ? undefined : messageOf(told)
  return {
    id: idOf(element, suites),
    status,
    ...(message === undefined ? {} : withFile(placed(cutMessage(message)), text(element, '@file'))),
  }
}

function withFile(place: ReturnType<typeof placed>, file: string) {
  return place.file !== undefined || file === '' ? place : { ...place, file }
}

function statusOf(skipped?: Element, failure?: Element, error?: Element): TestStatus {
  if (skipped !== undefined) return /xfail|todo/i.test(text(skipped, '@type')) ? 'xfail' : 'skip'
  if (error !== undefined) return 'error'
  return failure === undefined ? 'pass' : 'fail'
}

function idOf(element: Element, suites: readonly string[]): string {
  const [name, owner, file] = [text(element, '@name'), text(element, '@classname'), text(element, '@file')]
  // Node writes `test` or the name of the group, vitest the name of the file: each is the suite around the test.
  if (owner === 'test' || owner === suites.at(-1))
    return [...(file === '' ? [] : [file]), ...suites, name].join(' > ')
  return owner === '' ? name : `${owner}::${name}`
}

function messageOf(element: Element): string {
  const [message, body] = [text(element, '@message'), text(element, '#text').trim()]
  if (body === '') return message
  return message === '' || body.includes(message.split('\n')[0] ?? '') ? body : `${message}\n${body}`
}

const asElement = (value: unknown): Element =>
  typeof value === 'object' && value !== null ? (value as Element) : {}

const list = (value: unknown): Element[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one) =>
    typeof one === 'object' && one !== null ? (one as Element) : { '#text': String(one) },
  )

const text = (element: Element, name: string): string =>
  typeof element[name] === 'string' ? (element[name] as string) : ''
