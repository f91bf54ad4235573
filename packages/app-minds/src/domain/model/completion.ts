import { asObject, type JsonObject } from '@causeway/protocol'

type ModelReply =
  | { readonly kind: 'text'; readonly text: string; readonly isTruncated: boolean }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly status: number | null }

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

/** Parses a response body: JSON, or the event stream that some proxies return. */
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
  const metadata = { model: toTextOrNull(body.model), usage: readUsage(body.usage) }
  if (body.error !== undefined && body.error !== null) {
    const error = typeof body.error === 'string' ? { message: body.error } : asObject(body.error)
    const status = Number(error.code)
    return {
      ...makeFailure(String(error.message ?? 'an error'), Number.isInteger(status) ? status : null),
      ...metadata,
    }
  }
  const choice = asObject(Array.isArray(body.choices) ? body.choices[0] : undefined)
  const reason = toTextOrNull(choice.finish_reason)
  if (reason === 'error') return { ...makeFailure('the provider stopped with an error', null), ...metadata }
  return { reply: readReply(asObject(choice.message), reason), ...metadata }
}

function readReply(message: JsonObject, reason: string | null): ModelReply {
  const isTruncated = reason === 'length'
  const text = extractText(message.content)
  if (text !== null && text.trim() !== '') return { kind: 'text', text, isTruncated }
  const call = asObject(Array.isArray(message.tool_calls) ? message.tool_calls[0] : undefined)
  const toolArguments = asObject(call.function).arguments
  if (typeof toolArguments === 'string') return { kind: 'text', text: toolArguments, isTruncated }
  if (typeof toolArguments === 'object' && toolArguments !== null)
    return { kind: 'text', text: JSON.stringify(toolArguments), isTruncated }
  if (typeof message.refusal === 'string') return { kind: 'refused', reason: message.refusal }
  if (reason === 'content_filter') return { kind: 'refused', reason: 'the content filter stopped it' }
  return { kind: 'text', text: text ?? '', isTruncated }
}

function extractText(content: unknown): string | null {
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
  const errorChunk = chunks.find((chunk) => chunk.error !== undefined)
  if (errorChunk !== undefined) return readObject(errorChunk)
  const choices = chunks.map((chunk) => asObject(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined))
  const text = choices
    .map(({ delta, message }) => extractText(asObject(delta ?? message).content) ?? '')
    .join('')
  const reason =
    choices
      .map(({ finish_reason }) => toTextOrNull(finish_reason))
      .findLast((finishReason) => finishReason !== null) ?? null
  return {
    reply: readReply({ content: text }, reason),
    model: toTextOrNull(chunks.find(({ model }) => typeof model === 'string')?.model),
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
    prompt_tokens: toCountOrNull(usage.prompt_tokens),
    completion_tokens: toCountOrNull(usage.completion_tokens),
    cached_tokens: toCountOrNull(details.cached_tokens),
    cache_write_tokens: toCountOrNull(details.cache_write_tokens ?? usage.cache_write_tokens),
    cost: toCountOrNull(usage.cost),
  }
}

const makeFailure = (reason: string, status: number | null): Completion => ({
  reply: { kind: 'failed', reason, status },
  model: null,
  usage: readUsage(undefined),
})

const toTextOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const toCountOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
