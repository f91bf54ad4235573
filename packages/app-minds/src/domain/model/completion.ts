import { asObject, type JsonObject } from '@causeway/protocol'

type ModelReply =
  | { readonly kind: 'text'; readonly text: string; readonly isTruncated: boolean }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string; readonly status: number | null }

/** Token usage as reported; `null` if unknown. */
interface ReportedUsage {
  readonly prompt_tokens: number | null
  readonly completion_tokens: number | null
  readonly cached_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly cost: number | null
}

export interface Completion {
  readonly reply: ModelReply
  readonly model: string | null
  readonly usage: ReportedUsage
}

/** Parses a response body: JSON, or an event stream, which some proxies return. */
export function readCompletion(body: string): Completion {
  const text = body.trimStart()
  if (text.startsWith('data:') || text.startsWith('event:') || text.startsWith(':')) return readStream(text)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return makeFailure('the body is not JSON', null)
  }
  return readObject(asObject(json))
}

function readObject(body: JsonObject): Completion {
  const rest = { model: textOrNull(body.model), usage: readUsage(body.usage) }
  if (body.error !== undefined && body.error !== null) {
    const error = typeof body.error === 'string' ? { message: body.error } : asObject(body.error)
    const status = Number(error.code)
    return {
      ...makeFailure(String(error.message ?? 'an error'), Number.isInteger(status) ? status : null),
      ...rest,
    }
  }
  const choice = asObject(Array.isArray(body.choices) ? body.choices[0] : undefined)
  const reason = textOrNull(choice.finish_reason)
  if (reason === 'error') return { ...makeFailure('the provider stopped with an error', null), ...rest }
  return { reply: readReply(asObject(choice.message), reason), ...rest }
}

function readReply(message: JsonObject, reason: string | null): ModelReply {
  const isTruncated = reason === 'length'
  const text = contentText(message.content)
  if (text !== null && text.trim() !== '') return { kind: 'text', text, isTruncated }
  const call = asObject(Array.isArray(message.tool_calls) ? message.tool_calls[0] : undefined)
  const given = asObject(call.function).arguments
  if (typeof given === 'string') return { kind: 'text', text: given, isTruncated }
  if (typeof given === 'object' && given !== null)
    return { kind: 'text', text: JSON.stringify(given), isTruncated }
  if (typeof message.refusal === 'string') return { kind: 'refused', why: message.refusal }
  if (reason === 'content_filter') return { kind: 'refused', why: 'the content filter stopped it' }
  return { kind: 'text', text: text ?? '', isTruncated }
}

function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  return content.map((part) => (typeof part === 'string' ? part : String(asObject(part).text ?? ''))).join('')
}

function readStream(body: string): Completion {
  const chunks = body
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim())
    .filter((data) => data !== '' && data !== '[DONE]')
    .map(parseChunk)
  const problem = chunks.find((chunk) => chunk.error !== undefined)
  if (problem !== undefined) return readObject(problem)
  const choices = chunks.map((chunk) => asObject(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined))
  const text = choices
    .map(({ delta, message }) => contentText(asObject(delta ?? message).content) ?? '')
    .join('')
  const reason =
    choices.map(({ finish_reason }) => textOrNull(finish_reason)).findLast((one) => one !== null) ?? null
  return {
    reply: readReply({ content: text }, reason),
    model: textOrNull(chunks.find(({ model }) => typeof model === 'string')?.model),
    usage: readUsage(chunks.findLast(({ usage }) => usage !== undefined && usage !== null)?.usage),
  }
}

function parseChunk(data: string): JsonObject {
  try {
    return asObject(JSON.parse(data))
  } catch {
    return {}
  }
}

function readUsage(value: unknown): ReportedUsage {
  const usage = asObject(value)
  const details = asObject(usage.prompt_tokens_details)
  return {
    prompt_tokens: countOrNull(usage.prompt_tokens),
    completion_tokens: countOrNull(usage.completion_tokens),
    cached_tokens: countOrNull(details.cached_tokens),
    cache_write_tokens: countOrNull(details.cache_write_tokens ?? usage.cache_write_tokens),
    cost: countOrNull(usage.cost),
  }
}

const makeFailure = (why: string, status: number | null): Completion => ({
  reply: { kind: 'failed', why, status },
  model: null,
  usage: readUsage(undefined),
})

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const countOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
