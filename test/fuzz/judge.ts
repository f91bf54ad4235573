/** Checks that apply to every response: errors have codes, envelopes are valid, and no internals leak. */
import { errorMetaKey } from '@causeway/protocol'
import { errorDefinitions } from '../../scripts/docs/makers.ts'
import { repository } from '../tree.ts'
import { type Product, secrets } from './product.ts'

/** A received response. */
export interface HttpResponse {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** The form of responses: JSON-RPC, plain REST objects, or any body for a successful route. */
export type Form = 'rpc' | 'rest' | 'open'

const marks: readonly (readonly [string, RegExp])[] = [
  ['a stack', /(\\n|\n)\s{2,}at (async )?[\w$.<>[\] ]*\(?(file:|node:|\/)/],
  ['a place in the code', /node:internal|\/node_modules\/|\.ts:\d+:\d+/],
  ['an error of the database', /SqliteError|SQLITE_[A-Z]+/],
  ['an error of the system', /\b(ENOENT|EACCES|ENAMETOOLONG|EISDIR|ENOTDIR|ERR_[A-Z_]{4,})\b/],
]

/** Returns the secrets and internals in a text, in words. */
export function findLeaks(text: string, { dataDir }: Pick<Product, 'dataDir'>): string[] {
  const faults: string[] = []
  for (const secret of secrets) if (text.includes(secret)) faults.push(`shows ${secret}`)
  for (const [name, pattern] of marks) {
    const found = pattern.exec(text)
    if (found !== null)
      faults.push(`shows ${name}: ${text.slice(Math.max(0, found.index - 150), found.index + 150)}`)
  }
  // The health report contains the data folder, and runs and backups contain their paths.
  const rest = text
    .replaceAll(`${dataDir}/recordings/`, '')
    .replaceAll(`${dataDir}/backups/`, '')
    .replaceAll(`"data_dir":"${dataDir}"`, '')
    .replaceAll(`\\"data_dir\\":\\"${dataDir}\\"`, '')
  for (const place of [repository, dataDir]) if (rest.includes(place)) faults.push(`shows the path ${place}`)
  return faults
}

/** Returns the faults of a response, in words. */
export function findFaults(
  { status, type, text }: HttpResponse,
  form: Form,
  product: Pick<Product, 'dataDir'>,
): string[] {
  const faults = findLeaks(text, product)
  const values = parseMessages(type, text)
  if (values === undefined) {
    if (form !== 'open' || status >= 400) faults.push(`status ${status} without JSON: ${text.slice(0, 200)}`)
    return faults
  }
  if (form === 'rpc') for (const value of values.flat()) faults.push(...findMessageFaults(value))
  else if (status >= 400) for (const value of values) faults.push(...findErrorFaults(value, status))
  if (form === 'rpc' && status >= 500) faults.push(...findStatusFaults(values[0], status))
  return faults
}

/** Returns the messages of a JSON body or an event stream, or `undefined` for any other body. */
function parseMessages(type: string, text: string): unknown[] | undefined {
  if (text === '') return []
  try {
    if (!type.startsWith('text/event-stream')) return [JSON.parse(text) as unknown]
    const data = [...text.matchAll(/^data:([^\n]*)$/gm)].map(([, one = '']) => one.trim())
    return data.filter((one) => one !== '').map((one) => JSON.parse(one) as unknown)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

interface LooseMessage {
  readonly jsonrpc?: unknown
  readonly method?: unknown
  readonly error?: {
    readonly code?: unknown
    readonly message?: unknown
    readonly data?: { readonly code?: unknown }
  }
  readonly result?: {
    readonly isError?: unknown
    readonly _meta?: Readonly<Record<string, { readonly code?: unknown }>>
  }
}

function findMessageFaults(value: unknown): string[] {
  const message = (value ?? {}) as LooseMessage
  if (message.jsonrpc !== '2.0') return ['is not a JSON-RPC message']
  if (message.method !== undefined) return []
  if (message.error !== undefined) return findCodeFaults(message.error.data?.code, message.error)
  if (message.result?.isError === true)
    return findCodeFaults(message.result._meta?.[errorMetaKey]?.code, message.result)
  return message.result === undefined ? ['has neither result nor error'] : []
}

function findErrorFaults(value: unknown, status: number): string[] {
  const { code, error, details } = (value ?? {}) as {
    code?: unknown
    error?: LooseMessage['error']
    details?: unknown
  }
  // The original command channels nest the error object.
  const own = (error as { details?: { code?: unknown } } | undefined)?.details?.code ?? error?.data?.code
  const found = code ?? own ?? (details as { code?: unknown } | undefined)?.code
  const faults = findCodeFaults(found, value)
  if (faults.length > 0) return faults
  const expected = errorDefinitions[String(found)]?.status
  return expected === status ? [] : [`${found} came with status ${status} and not ${expected}`]
}

const findStatusFaults = (value: unknown, status: number): string[] => {
  const code = ((value ?? {}) as LooseMessage).error?.data?.code
  return isCode(code) && errorDefinitions[code]?.status === status
    ? []
    : [`status ${status} is not that of ${String(code)}`]
}

const isCode = (code: unknown): code is string =>
  typeof code === 'string' && Object.hasOwn(errorDefinitions, code)

function findCodeFaults(code: unknown, shown: unknown): string[] {
  if (!isCode(code)) return [`no declared code: ${JSON.stringify(shown).slice(0, 300)}`]
  return code === 'INTERNAL' ? [`INTERNAL: ${JSON.stringify(shown).slice(0, 300)}`] : []
}
