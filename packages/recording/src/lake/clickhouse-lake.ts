import { CausewayError } from '@causeway/protocol'
import { RecordingError } from '../errors.ts'
import { type Dialect, lakeQuestions, toRow, writeStatement } from './lake-questions.ts'
import type { LakeAnswer, LakeQuery } from './lake-types.ts'

interface ClickHouseOptions {
  /** HTTP address, including user and password. */
  readonly url: string
  /**
   * SQL table function that reads the files, with the placeholder `{table}`, such as
   * `s3('https://…/v1/{table}/*.parquet', 'Parquet')`.
   */
  readonly source: string
}

const maxAnswerBytes = 16 * 1024 ** 2

export class ClickHouseLake {
  readonly #options: ClickHouseOptions

  constructor(options: ClickHouseOptions) {
    this.#options = options
  }

  /** Throws `LAKE_UNAVAILABLE`, `CANCELLED` and `DEADLINE_EXCEEDED`. */
  async runQuery(
    { question: name, filter, threshold, limit, deadlineMs }: LakeQuery,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<LakeAnswer> {
    const question = lakeQuestions.find((candidate) => candidate.name === name)
    if (question === undefined) throw new Error(`not a question: ${name}`)
    const dialect: Dialect = {
      source: (table) => this.#options.source.replaceAll('{table}', table),
      argMax: 'argMax',
      quantile: (share, column) => `quantileExactInclusive(${share})(${column})`,
      parameter: (parameter, type) => `{${parameter}:${type === 'text' ? 'String' : 'Float64'}}`,
    }
    const { sql, parameters } = writeStatement(question, dialect, { filter, threshold, limit })
    const timeout = AbortSignal.timeout(deadlineMs)
    try {
      const rows = await this.#send(sql, parameters, AbortSignal.any([signal, timeout]), deadlineMs)
      return { rows: rows.slice(0, limit).map((row) => toRow(question, row)), truncated: rows.length > limit }
    } catch (error) {
      if (signal.aborted) throw new CausewayError('CANCELLED', 'the call was cancelled')
      if (timeout.aborted)
        throw new CausewayError('DEADLINE_EXCEEDED', `the question took longer than ${deadlineMs} ms`, {
          remedy: 'restrict the scenario or the commit',
          data: { deadline_ms: deadlineMs },
        })
      throw error
    }
  }

  async #send(
    sql: string,
    parameters: Readonly<Record<string, string | number>>,
    signal: AbortSignal,
    deadlineMs: number,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const url = new URL(this.#options.url)
    const { username, password } = url
    url.username = ''
    url.password = ''
    const settings = {
      default_format: 'JSON',
      readonly: '2',
      max_execution_time: String(Math.ceil(deadlineMs / 1000)),
      max_result_rows: '100000',
    }
    for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, value)
    for (const [name, value] of Object.entries(parameters))
      url.searchParams.set(`param_${name}`, String(value))
    const headers =
      username === '' ? {} : { authorization: `Basic ${btoa(decodeURIComponent(`${username}:${password}`))}` }
    const response = await fetch(url, { method: 'POST', body: sql, headers, signal }).catch((cause) => {
      throw signal.aborted ? cause : createUnavailableError(`cannot be reached at ${url.host}`, cause)
    })
    const text = await response.text()
    if (!response.ok)
      throw createUnavailableError(`answered ${response.status}: ${text.slice(0, 300).split('\n')[0]}`)
    if (text.length > maxAnswerBytes) throw createUnavailableError('sent an answer that is too large')
    const body = parse(text)
    if (!Array.isArray(body?.data)) throw createUnavailableError('did not answer with rows')
    return body.data
  }
}

function parse(text: string): { readonly data?: unknown } | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const createUnavailableError = (problem: string, cause?: unknown) =>
  new RecordingError('LAKE_UNAVAILABLE', `ClickHouse ${problem}`, cause === undefined ? {} : { cause })
