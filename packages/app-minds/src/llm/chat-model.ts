/** Asking a model over HTTP: deadlines, retries, a breaker, and a record of every attempt. */
import { setTimeout as wait } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { type Completion, readCompletion } from '../domain/model/completion.ts'
import { backoffMs, isRetryable, retryAfterMs } from '../domain/model/retry-delay.ts'
import type { AnswerSchema } from '../domain/model/schemas.ts'
import type { LlmCallRow } from '../store/types.ts'
import { makeBreaker } from './breaker.ts'
import type { LlmCode } from './model-failure.ts'
import type { Provider } from './provider.ts'
import { makeThrottle, Overload } from './throttle.ts'

/** A message to a model. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** One question. */
export interface ChatQuestion {
  readonly step: string
  readonly attempt: number
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly temperature: number
  readonly seed: number | undefined
  readonly user: string
  readonly schema: AnswerSchema
  /** The deadline of the decision. */
  readonly signal: AbortSignal
  /** Ms since the epoch at which that is. */
  readonly until: number
  /** Gets a row for each attempt. */
  readonly record: (row: LlmCallRow) => void
  /** Attempts that are left to the decision. */
  readonly mayCall: () => boolean
}

/** An answer: a text, whole or cut. */
export interface ChatAnswer {
  readonly text: string
  readonly isCut: boolean
}

/** Why there is no answer. */
export class ChatError extends Error {
  readonly code: LlmCode
  constructor(code: LlmCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A model that can be asked. */
export interface ChatModel {
  readonly provider: Provider
  /** Throws `ChatError`. */
  ask(question: ChatQuestion): Promise<ChatAnswer>
  health(): Readonly<Record<string, unknown>>
  close(): Promise<void>
}

/** Largest body that is read, bytes. */
const mostBytes = 1 << 20

/** What an attempt brought. */
type Outcome =
  | { readonly completion: Completion; readonly status: number }
  | {
      readonly error: ChatError
      readonly status: number | null
      readonly isAgain: boolean
      readonly waitMs: number | null
      readonly completion?: Completion
    }

/** Opens a provider; nothing is sent before the first question. `random` spreads retries. */
export function openChatModel(
  provider: Provider,
  { now, random }: { readonly now: () => number; readonly random: () => number },
): ChatModel {
  const agent = new Agent({
    connect: { timeout: provider.connect_timeout_ms },
    connections: provider.max_concurrency,
  })
  const breaker = makeBreaker(now)
  const throttle = makeThrottle(provider, now)
  const seen: {
    structured: Provider['structured']
    lastError: LlmCode | null
    reachable: boolean | null
    model: string
  } = {
    structured: provider.structured,
    lastError: null,
    reachable: null,
    model: provider.model,
  }
  const note = (outcome: Outcome): void => {
    seen.reachable = outcome.status !== null
    seen.lastError = 'error' in outcome ? outcome.error.code : null
    // A refusal and a request that is not understood say that the provider is well.
    const isWell = seen.lastError === null || ['LLM_REFUSED', 'LLM_BAD_REQUEST'].includes(seen.lastError)
    if (isWell) breaker.succeeded()
    else breaker.failed()
  }

  const attempt = async (question: ChatQuestion): Promise<Outcome> => {
    const since = now()
    const body = JSON.stringify(bodyOf(question, provider, seen.structured))
    const sent = { is: false }
    const send = (): Promise<Outcome> => {
      sent.is = true
      return post(body, question.signal)
    }
    const outcome = await throttle
      .run(Math.ceil(body.length / 3.5) + question.maxTokens, question.signal, send)
      .catch((error: unknown) => outcomeOf(error, question.signal))
    if (sent.is) {
      note(outcome)
      question.record(rowOf(question, outcome, Math.round(now() - since), provider))
    } else breaker.passed()
    return outcome
  }

  const post = async (body: string, decision: AbortSignal): Promise<Outcome> => {
    // The deadline covers the whole attempt: undici's own watch for gaps, which a body that drips never has.
    const signal = AbortSignal.any([decision, AbortSignal.timeout(provider.timeout_ms)])
    const response = await request(`${provider.baseUrl}/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      signal,
      headersTimeout: provider.timeout_ms,
      bodyTimeout: provider.timeout_ms,
      headers: headersOf(provider),
      body,
    })
    const text = await readBody(response.body, mostBytes)
    const { statusCode, headers } = response
    if (text === undefined)
      return failure('LLM_UPSTREAM', 'the answer is larger than 1 MiB', statusCode, false)
    const after = retryAfterMs(single(headers['retry-after']), Date.now(), Date.parse)
    if (statusCode >= 300) return refused(statusCode, text, after, provider)
    const completion = readCompletion(text)
    const { said } = completion
    if (said.kind === 'refused')
      return { ...failure('LLM_REFUSED', 'the model refused', statusCode, false), completion }
    if (said.kind === 'failed')
      return { ...refused(said.status ?? 502, text, after, provider), status: statusCode, completion }
    return { completion, status: statusCode }
  }

  return {
    provider,
    async ask(question) {
      let retries = 0
      let timeouts = 0
      for (;;) {
        if (!question.mayCall())
          throw new ChatError(seen.lastError ?? 'LLM_UPSTREAM', 'the calls of this decision are spent')
        if (question.signal.aborted)
          throw new ChatError('LLM_TIMEOUT', 'the deadline of the decision has passed')
        if (!breaker.admits())
          throw new ChatError(
            seen.lastError ?? 'LLM_UPSTREAM',
            'the provider failed repeatedly and is left alone',
          )
        const outcome = await attempt(question)
        if (!('error' in outcome)) {
          seen.model = outcome.completion.model ?? question.model
          const { said } = outcome.completion
          return said.kind === 'text' ? said : { text: '', isCut: false }
        }
        const { error } = outcome
        if (error.code === 'LLM_BAD_REQUEST' && seen.structured !== 'none') {
          // Many servers know no schemas: what is asked of them is less, from now on.
          seen.structured = seen.structured === 'json_schema' ? 'json_object' : 'none'
          continue
        }
        if (error.code === 'LLM_TIMEOUT') timeouts += 1
        if (!outcome.isAgain || retries >= provider.max_retries || timeouts > 1) throw error
        const delay = outcome.waitMs ?? backoffMs(retries, random())
        retries += 1
        if (now() + delay >= question.until) throw error
        await wait(delay, undefined, { signal: question.signal }).catch(() => {})
      }
    },
    health: () => ({
      provider: provider.name,
      model: seen.model,
      reachable: seen.reachable,
      last_error: seen.lastError,
      circuit: breaker.state,
      waiting: throttle.waiting,
    }),
    close: () => agent.destroy(),
  }
}

function bodyOf(question: ChatQuestion, provider: Provider, structured: Provider['structured']): object {
  const { model, messages, temperature, maxTokens, seed, user, schema, step } = question
  const format =
    structured === 'json_schema'
      ? { type: 'json_schema', json_schema: { name: step, strict: true, schema } }
      : { type: 'json_object' }
  return {
    model,
    messages,
    temperature,
    max_tokens: maxTokens,
    ...(structured === 'none' ? {} : { response_format: format }),
    ...(seed === undefined ? {} : { seed }),
    stream: false,
    user,
    // Only endpoints that honour the form of the answer.
    ...(provider.name === 'openrouter' && structured !== 'none'
      ? { provider: { require_parameters: true } }
      : {}),
  }
}

const headersOf = ({ headers, apiKey }: Provider): Record<string, string> => ({
  ...headers,
  'content-type': 'application/json',
  accept: 'application/json',
  ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
})

/** The body as text; undefined where it is too long, and then the rest is not waited for. */
async function readBody(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  most: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > most) {
      body.destroy()
      return undefined
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const codeOfStatus: Readonly<Record<number, LlmCode>> = {
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

/** A status that is no success. The words of the provider are not repeated: they may hold the key. */
function refused(
  status: number,
  _body: string,
  waitMs: number | null,
  provider: Provider,
): Outcome & { readonly error: ChatError } {
  const code = codeOfStatus[status] ?? 'LLM_UPSTREAM'
  return {
    ...failure(code, `${provider.name} answered with status ${status}`, status, isRetryable(status)),
    waitMs,
  }
}

const failure = (
  code: LlmCode,
  message: string,
  status: number | null,
  isAgain: boolean,
): Outcome & { readonly error: ChatError } => ({
  error: new ChatError(code, message),
  status,
  isAgain,
  waitMs: null,
})

/** What went wrong before there was an answer. */
function outcomeOf(error: unknown, decision: AbortSignal): Outcome {
  if (decision.aborted) return failure('LLM_TIMEOUT', 'the deadline of the decision has passed', null, false)
  if (error instanceof Overload) return failure('LLM_OVERLOADED', error.message, null, false)
  const { name, code } = error as { readonly name?: string; readonly code?: string }
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return failure('LLM_TIMEOUT', 'the model did not answer in time', null, true)
  const isConnecting = [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ]
  if (isConnecting.includes(code ?? ''))
    return failure('LLM_UNREACHABLE', `the provider cannot be reached (${code})`, null, true)
  return failure(
    'LLM_UPSTREAM',
    `the connection to the provider failed (${code ?? name ?? 'unknown'})`,
    null,
    true,
  )
}

function rowOf(question: ChatQuestion, outcome: Outcome, latency: number, { price }: Provider): LlmCallRow {
  const usage = outcome.completion?.usage
  const [prompt, completion] = [usage?.prompt_tokens ?? null, usage?.completion_tokens ?? null]
  const told = usage?.cost ?? null
  const computed =
    price === undefined || prompt === null || completion === null
      ? null
      : (prompt * price.in_per_m + completion * price.out_per_m) / 1e6
  return {
    step: question.step,
    attempt: question.attempt,
    model_requested: question.model,
    model_served: outcome.completion?.model ?? null,
    status: outcome.status,
    error_code: 'error' in outcome ? outcome.error.code : null,
    latency_ms: latency,
    prompt_tokens: prompt,
    completion_tokens: completion,
    cached_tokens: usage?.cached_tokens ?? null,
    cache_write_tokens: usage?.cache_write_tokens ?? null,
    cost: told ?? computed,
    cost_source: told !== null ? 'provider' : computed !== null ? 'price_table' : 'unknown',
  }
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value
