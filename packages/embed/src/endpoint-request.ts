import { CausewayError } from '@causeway/protocol'
import { type Dispatcher, request } from 'undici'
import type { EndpointOptions } from './endpoint-options.ts'

/** What came of one attempt. */
export type EndpointReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | {
      readonly kind: 'failure'
      /** as in `answered 429` */
      readonly reason: string
      /** True where another attempt may succeed. */
      readonly isTransient: boolean
      /** What the endpoint asks to wait, ms. */
      readonly retryAfterMs?: number
    }

/** Longest pause that an endpoint may ask for, ms. */
const longestPauseMs = 60_000

/** Sends one request. Throws `CANCELLED`; what else goes wrong is a failure. */
export async function post(
  dispatcher: Dispatcher,
  { baseUrl, model, dimensions, requestDimensions, apiKey, timeoutMs = 30_000 }: EndpointOptions,
  input: readonly string[],
  signal: AbortSignal | undefined,
): Promise<EndpointReply> {
  const limit = AbortSignal.timeout(timeoutMs)
  const body = { model, input, encoding_format: 'float', ...(requestDimensions ? { dimensions } : {}) }
  try {
    const response = await request(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
      dispatcher,
      method: 'POST',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
    })
    const { statusCode } = response
    if (statusCode === 200) return { kind: 'answer', body: await response.body.json() }
    await response.body.dump()
    const isTransient = statusCode === 408 || statusCode === 429 || statusCode >= 500
    const pause = retryAfter(response.headers['retry-after'])
    return {
      kind: 'failure',
      reason: `answered ${statusCode}`,
      isTransient,
      ...(pause === undefined ? {} : { retryAfterMs: pause }),
    }
  } catch (error) {
    if (signal?.aborted)
      throw new CausewayError('CANCELLED', 'making the vectors was cancelled', { cause: error })
    if (error instanceof SyntaxError)
      throw new CausewayError('EMBEDDINGS_INVALID', 'the embeddings endpoint answered what is not JSON', {
        cause: error,
      })
    const reason = limit.aborted ? `gave no answer in ${timeoutMs} ms` : 'cannot be reached'
    return { kind: 'failure', reason, isTransient: true }
  }
}

/** Seconds of a `Retry-After` header in ms; a date is not waited for. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const seconds = typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) : undefined
  return seconds === undefined ? undefined : Math.min(seconds * 1000, longestPauseMs)
}
