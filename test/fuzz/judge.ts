/** What holds for every answer, whatever was asked: coded errors, valid envelopes, and nothing of the inside. */
import { codes, type ErrorCode, errorMetaKey, rowOf } from '@causeway/protocol'
import { repository } from '../tree.ts'
import { type Product, secrets } from './product.ts'

/** An answer as it came. */
export interface Answered {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** In which form answers come: JSON-RPC, the plain objects of REST, or whatever the route chooses for a success. */
export type Form = 'rpc' | 'rest' | 'open'

const marks: readonly (readonly [string, RegExp])[] = [
  ['a stack', /(\\n|\n)\s{2,}at (async )?[\w$.<>[\] ]*\(?(file:|node:|\/)/],
  ['a place in the code', /node:internal|\/node_modules\/|\.ts:\d+:\d+/],
  ['an error of the database', /SqliteError|SQLITE_[A-Z]+/],
  ['an error of the system', /\b(ENOENT|EACCES|ENAMETOOLONG|EISDIR|ENOTDIR|ERR_[A-Z_]{4,})\b/],
]

/** What of the inside a text shows. */
export function leaksOf(text: string, { dataDir }: Pick<Product, 'dataDir'>): string[] {
  const faults: string[] = []
  for (const secret of secrets) if (text.includes(secret)) faults.push(`shows ${secret}`)
  for (const [name, pattern] of marks) {
    const found = pattern.exec(text)
    if (found !== null)
      faults.push(`shows ${name}: ${text.slice(Math.max(0, found.index - 150), found.index + 150)}`)
  }
  // Where the data is, health tells whoever may ask, and runs and backups are told with their places.
  const rest = text
    .replaceAll(`${dataDir}/recordings/`, '')
    .replaceAll(`${dataDir}/backups/`, '')
    .replaceAll(`"data_dir":"${dataDir}"`, '')
    .replaceAll(`\\"data_dir\\":\\"${dataDir}\\"`, '')
  for (const place of [repository, dataDir]) if (rest.includes(place)) faults.push(`shows the path ${place}`)
  return faults
}

/** What is wrong with an answer, in words; empty where nothing is. */
export function faultsOf(
  { status, type, text }: Answered,
  form: Form,
  product: Pick<Product, 'dataDir'>,
): string[] {
  const faults = leaksOf(text, product)
  const values = parsed(type, text)
  if (values === undefined) {
    if (form !== 'open' || status >= 400) faults.push(`status ${status} without JSON: ${text.slice(0, 200)}`)
    return faults
  }
  if (form === 'rpc') for (const value of values.flat()) faults.push(...faultsOfMessage(value))
  else if (status >= 400) for (const value of values) faults.push(...faultsOfObject(value, status))
  if (form === 'rpc' && status >= 500) faults.push(...faultsOfStatus(values[0], status))
  return faults
}

/** The messages of a body: one of JSON, or those of an event stream. Undefined where it is neither. */
function parsed(type: string, text: string): unknown[] | undefined {
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

function faultsOfMessage(value: unknown): string[] {
  const message = (value ?? {}) as LooseMessage
  if (message.jsonrpc !== '2.0') return ['is no JSON-RPC message']
  if (message.method !== undefined) return []
  if (message.error !== undefined) return faultsOfCode(message.error.data?.code, message.error)
  if (message.result?.isError === true)
    return faultsOfCode(message.result._meta?.[errorMetaKey]?.code, message.result)
  return message.result === undefined ? ['has neither result nor error'] : []
}

function faultsOfObject(value: unknown, status: number): string[] {
  const { code, error, details } = (value ?? {}) as {
    code?: unknown
    error?: LooseMessage['error']
    details?: unknown
  }
  // The original command channels put the object below a member of theirs.
  const own = (error as { details?: { code?: unknown } } | undefined)?.details?.code ?? error?.data?.code
  const found = code ?? own ?? (details as { code?: unknown } | undefined)?.code
  const faults = faultsOfCode(found, value)
  if (faults.length > 0) return faults
  const { http } = rowOf(found as ErrorCode)
  return http === status ? [] : [`${found} came with status ${status} and not ${http}`]
}

const faultsOfStatus = (value: unknown, status: number): string[] => {
  const code = ((value ?? {}) as LooseMessage).error?.data?.code
  return isCode(code) && rowOf(code).http === status
    ? []
    : [`status ${status} is not that of ${String(code)}`]
}

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(codes, code)

function faultsOfCode(code: unknown, shown: unknown): string[] {
  if (!isCode(code)) return [`no declared code: ${JSON.stringify(shown).slice(0, 300)}`]
  return code === 'INTERNAL' ? [`INTERNAL: ${JSON.stringify(shown).slice(0, 300)}`] : []
}
