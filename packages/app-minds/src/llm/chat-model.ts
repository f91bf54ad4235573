import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { Agent } from 'undici'
import { type Completion, readCompletion } from '../domain/model/completion.ts'
import { computeBackoffMs, isRetryable, parseRetryAfterMs } from '../domain/model/retry-delay.ts'
import type { AnswerSchema } from '../domain/model/schemas.ts'
import type { LlmCallRow } from '../store/types.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { LlmCode } from './model-failure.ts'
import type { Provider } from './provider.ts'
import { Throttle } from './throttle.ts'

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

interface ChatRequest {
  readonly step: string
  readonly attempt: number
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly temperature: number
  readonly seed: number | undefined
  readonly user: string
  readonly schema: AnswerSchema
  readonly signal: AbortSignal
  readonly deadline: number
  readonly record: (row: LlmCallRow) => void
  readonly canCall: () => boolean
}

export class ChatError extends Error {
  readonly code: LlmCode
  constructor(code: LlmCode, message: string) {
    super(message)
    this.code = code
  }
}

const maxBytes = 1 << 20

/** How long to use a simpler response format after the provider refused a format. */
const simplerFormatMs = 10 * 60_000

type Outcome =
  | { readonly completion: Completion; readonly status: number }
  | {
      readonly error: ChatError
      readonly status: number | null
      readonly isRetryable: boolean
      readonly waitMs: number | null
      readonly completion?: Completion
    }

type ResponseFormat = Provider['structured']

/**
 * Client for a chat model behind an OpenAI-compatible endpoint, with deadlines, retries and a circuit
 * breaker.
 */
export class ChatModel {
  readonly provider: Provider
  readonly #now: () => number
  readonly #random: () => number
  readonly #breaker: CircuitBreaker
  readonly #throttle: Throttle
  /** Overrides the format of the provider until `deadline` on the monotonic clock. */
  #simplerFormat: { readonly format: ResponseFormat; readonly deadline: number } | null = null
  #lastError: LlmCode | null = null
  #isReachable: boolean | null = null
  #servedModel: string
  #agent: Promise<Agent> | undefined

  /** `now` returns milliseconds of a monotonic clock. `random` spreads retries over time. */
  constructor(
    provider: Provider,
    { now, random }: { readonly now: () => number; readonly random: () => number },
  ) {
    this.provider = provider
    this.#now = now
    this.#random = random
    this.#breaker = new CircuitBreaker(now)
    this.#throttle = new Throttle(provider, now)
    this.#servedModel = provider.model
  }

  /** Retries temporary failures, and refused formats with a simpler format. Throws `ChatError`. */
  async send(request: ChatRequest) {
    let retryCount = 0
    let timeoutCount = 0
    const previousFormat = this.#simplerFormat
    let format = this.#currentFormat
    for (;;) {
      this.#requireAttempt(request)
      const outcome = await this.#attempt(request, format)
      if (!('error' in outcome)) {
        this.#servedModel = outcome.completion.model ?? request.model
        const { reply } = outcome.completion
        return reply.kind === 'text' ? reply : { text: '', isTruncated: false }
      }
      const { error } = outcome
      if (error.code === 'LLM_BAD_REQUEST') {
        // If every format is refused, the request itself is the cause.
        if (format === 'none') this.#simplerFormat = previousFormat
        else {
          // Many servers do not support JSON schemas.
          format = format === 'json_schema' ? 'json_object' : 'none'
          this.#simplerFormat = { format, deadline: this.#now() + simplerFormatMs }
          continue
        }
      }
      if (error.code === 'LLM_TIMEOUT') timeoutCount += 1
      if (!outcome.isRetryable || retryCount >= this.provider.max_retries || timeoutCount > 1) throw error
      const delayMs = outcome.waitMs ?? computeBackoffMs(retryCount, this.#random())
      retryCount += 1
      if (this.#now() + delayMs >= request.deadline) throw error
      await wait(delayMs, undefined, { signal: request.signal }).catch(() => {})
    }
  }

  health(): Readonly<Record<string, unknown>> {
    return {
      provider: this.provider.name,
      model: this.#servedModel,
      reachable: this.#isReachable,
      last_error: this.#lastError,
      circuit: this.#breaker.state,
      waiting: this.#throttle.waiting,
    }
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy()
  }

  get #currentFormat(): ResponseFormat {
    const override = this.#simplerFormat
    return override !== null && this.#now() < override.deadline ? override.format : this.provider.structured
  }

  #requireAttempt(request: ChatRequest): void {
    const code = this.#lastError ?? 'LLM_UPSTREAM'
    if (!request.canCall()) throw new ChatError(code, 'the decision has used all its calls')
    if (request.signal.aborted) throw new ChatError('LLM_TIMEOUT', 'the deadline of the decision has passed')
    if (!this.#breaker.tryCall())
      throw new ChatError(code, 'the provider failed repeatedly; calls are suspended')
  }

  async #attempt(request: ChatRequest, format: ResponseFormat): Promise<Outcome> {
    const startMs = this.#now()
    const body = JSON.stringify(buildRequestBody(request, this.provider, format))
    const estimatedTokens = Math.ceil(body.length / 3.5) + request.maxTokens
    let isSent = false
    const post = (): Promise<Outcome> => {
      isSent = true
      return this.#post(body, request.signal)
    }
    const outcome = await this.#throttle
      .run(estimatedTokens, request.signal, post)
      .catch((error: unknown) => toOutcome(error, request.signal, this.#throttle.waiting))
    if (isSent) {
      this.#recordOutcome(outcome)
      request.record(toCallRow(request, outcome, Math.round(this.#now() - startMs), this.provider))
    } else this.#breaker.recordSkip()
    return outcome
  }

  #recordOutcome(outcome: Outcome): void {
    const code = 'error' in outcome ? outcome.error.code : null
    this.#isReachable = outcome.status !== null
    this.#lastError = code
    // With these results, the provider is available.
    if (code === null || code === 'LLM_REFUSED' || code === 'LLM_BAD_REQUEST') this.#breaker.recordSuccess()
    else this.#breaker.recordFailure()
  }

  async #post(body: string, decisionSignal: AbortSignal): Promise<Outcome> {
    const { provider } = this
    const { timeout_ms: timeoutMs } = provider
    // undici's timeouts apply only to pauses, so a slow body needs a deadline.
    const signal = AbortSignal.any([decisionSignal, AbortSignal.timeout(timeoutMs)])
    this.#agent ??= openAgent(provider)
    const { request } = await import('undici')
    const response = await request(`${provider.baseUrl}/chat/completions`, {
      method: 'POST',
      dispatcher: await this.#agent,
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: buildHeaders(provider),
      body,
    })
    const text = await readBody(response.body)
    const { statusCode: status, headers } = response
    if (text === undefined)
      return toFailure('LLM_UPSTREAM', 'the response is larger than 1 MiB', status, false)
    const [retryAfter] = [headers['retry-after'] ?? []].flat()
    const waitMs = parseRetryAfterMs(retryAfter, Date.now(), Date.parse)
    if (status >= 300) return toStatusFailure(status, waitMs, provider)
    const completion = readCompletion(text)
    const { reply } = completion
    if (reply.kind === 'refused')
      return { ...toFailure('LLM_REFUSED', 'the model refused', status, false), completion }
    if (reply.kind === 'failed')
      return { ...toStatusFailure(reply.status ?? 502, waitMs, provider), status, completion }
    return { completion, status }
  }
}

/** Loads undici on the first request, because it uses 4 MB and few servers have a provider. */
async function openAgent(provider: Provider): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    connect: { timeout: provider.connect_timeout_ms },
    connections: provider.max_concurrency,
  })
}

function buildRequestBody(request: ChatRequest, provider: Provider, format: ResponseFormat): object {
  const { model, messages, temperature, maxTokens, seed, user, schema, step } = request
  const response_format =
    format === 'json_schema'
      ? { type: 'json_schema', json_schema: { name: step, strict: true, schema } }
      : { type: 'json_object' }
  return {
    model,
    messages,
    temperature,
    max_tokens: maxTokens,
    ...(format === 'none' ? {} : { response_format }),
    ...(seed === undefined ? {} : { seed }),
    stream: false,
    user,
    ...(provider.name === 'openrouter' && format !== 'none'
      ? { provider: { require_parameters: true } }
      : {}),
  }
}

const buildHeaders = ({ headers, apiKey }: Provider): Record<string, string> => ({
  ...headers,
  'content-type': 'application/json',
  accept: 'application/json',
  ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
})

/** Reads the body as text. Closes a body of more than `maxBytes` and returns `undefined`. */
async function readBody(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let byteCount = 0
  for await (const chunk of body) {
    byteCount += chunk.length
    if (byteCount > maxBytes) {
      body.destroy()
      return undefined
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const codesByStatus: Readonly<Record<number, LlmCode>> = {
  400: 'LLM_BAD_REQUEST',
  401: 'LLM_AUTH',
  402: 'LLM_CREDITS',
  403: 'LLM_AUTH',
  404: 'LLM_MODEL_NOT_FOUND',
  408: 'LLM_TIMEOUT',
  413: 'LLM_BAD_REQUEST',
  422: 'LLM_BAD_REQUEST',
  429: 'LLM_RATE_LIMITED',
  504: 'LLM_TIMEOUT',
}

/** The error omits the provider's message, which can contain the API key. */
function toStatusFailure(
  status: number,
  waitMs: number | null,
  provider: Provider,
): Outcome & { readonly error: ChatError } {
  const code = codesByStatus[status] ?? 'LLM_UPSTREAM'
  return {
    ...toFailure(code, `${provider.name} responded with status ${status}`, status, isRetryable(status)),
    waitMs,
  }
}

const toFailure = (
  code: LlmCode,
  message: string,
  status: number | null,
  isRetryable: boolean,
): Outcome & { readonly error: ChatError } => ({
  error: new ChatError(code, message),
  status,
  isRetryable,
  waitMs: null,
})

function toOutcome(error: unknown, decisionSignal: AbortSignal, queuedCalls: number): Outcome {
  if (decisionSignal.aborted)
    return toFailure('LLM_TIMEOUT', 'the deadline of the decision has passed', null, false)
  if (CausewayError.is(error, 'OVERLOADED'))
    return toFailure('LLM_OVERLOADED', `${queuedCalls} calls are queued for the provider`, null, false)
  const { name, code } = error as { readonly name?: string; readonly code?: string }
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return toFailure('LLM_TIMEOUT', 'the model did not respond in time', null, true)
  const connectionErrorCodes = [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ]
  if (connectionErrorCodes.includes(code ?? ''))
    return toFailure('LLM_UNREACHABLE', `the provider cannot be reached (${code})`, null, true)
  return toFailure(
    'LLM_UPSTREAM',
    `the connection to the provider failed (${code ?? name ?? 'unknown'})`,
    null,
    true,
  )
}

function toCallRow(
  request: ChatRequest,
  outcome: Outcome,
  latencyMs: number,
  { price }: Provider,
): LlmCallRow {
  const usage = outcome.completion?.usage
  const [promptTokens, completionTokens] = [usage?.prompt_tokens ?? null, usage?.completion_tokens ?? null]
  const reportedCost = usage?.cost ?? null
  const computedCost =
    price === undefined || promptTokens === null || completionTokens === null
      ? null
      : (promptTokens * price.in_per_m + completionTokens * price.out_per_m) / 1e6
  return {
    step: request.step,
    attempt: request.attempt,
    model_requested: request.model,
    model_served: outcome.completion?.model ?? null,
    status: outcome.status,
    error_code: 'error' in outcome ? outcome.error.code : null,
    latency_ms: latencyMs,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    cached_tokens: usage?.cached_tokens ?? null,
    cache_write_tokens: usage?.cache_write_tokens ?? null,
    cost: reportedCost ?? computedCost,
    cost_source: reportedCost !== null ? 'provider' : computedCost !== null ? 'price_table' : 'unknown',
  }
}
