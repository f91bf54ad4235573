/**
 * Asking the client in the middle of a call: its user, its model, or which folders it works in.
 *
 * A run that lacks something returns its questions; it is run again, from the start, with the replies in
 * `ctx.input`. So a run must change nothing before it has all that it needs.
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
 */
import type { Content, InputRequest, Params } from '@causeway/protocol'
import { z } from 'zod'
import { formSchema, type Shape } from './schema.ts'

const brand = Symbol.for('causeway.ask')

/** What a run returns instead of its answer. */
export interface Ask {
  readonly [brand]: true
  readonly questions: Readonly<Record<string, InputRequest>>
  /** JSON that the next run finds in `ctx.input.kept`; the client holds it meanwhile, signed but readable. */
  readonly kept: unknown
}

/** What a call has learnt from its client so far. */
export interface Input {
  /** Replies to the questions of the run before, by key; empty in the first run. Read them with `accepted` or `replyTo`. */
  readonly replies: Readonly<Record<string, unknown>>
  /** What the run before gave to `ask` to keep; undefined in the first run. */
  readonly kept: unknown
  /** True where the client has said that it can answer this kind of question. */
  can(question: InputRequest): boolean
}

/** Returns to the client with questions, each under a key of its own. */
export const ask = (questions: Readonly<Record<string, InputRequest>>, kept?: unknown): Ask => ({
  [brand]: true,
  questions,
  kept,
})

/** True for what `ask` made, also for that of another copy of this module. */
export const isAsk = (value: unknown): value is Ask =>
  typeof value === 'object' && value !== null && brand in value

/** Asks the user to fill in a form; the fields are flat: strings, numbers, booleans and choices. */
export const elicit = (message: string, fields: Shape): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: formSchema(message, fields) },
})

/** Asks the user to visit a page, for what must not pass through the client: a password, a payment. */
export const elicitUrl = (message: string, url: string): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'url', message, url },
})

/** Asks the client's model to go on from these messages (`CreateMessageRequest` params). */
export const sample = (params: Params & { readonly maxTokens: number }): InputRequest => ({
  method: 'sampling/createMessage',
  params,
})

/** Asks which folders the client works in. */
export const listRoots = (): InputRequest => ({ method: 'roots/list' })

/** One reply, checked for its shape and nothing more: it comes from the client. */
export type Reply =
  | {
      readonly kind: 'elicited'
      readonly action: 'accept' | 'decline' | 'cancel'
      readonly content: Readonly<Record<string, unknown>> | undefined
    }
  | { readonly kind: 'sampled'; readonly model: string; readonly content: Content | readonly Content[] }
  | { readonly kind: 'roots'; readonly roots: readonly { readonly uri: string; readonly name?: string }[] }

const elicited = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).nullish(),
})
const block = z.looseObject({ type: z.string() })
const sampled = z.object({ model: z.string(), content: z.union([block, z.array(block)]) })
const roots = z.object({ roots: z.array(z.object({ uri: z.string(), name: z.string().optional() })) })

/** The reply to one question; undefined where there is none, or none that can be read: ask again. */
export function replyTo({ replies }: Pick<Input, 'replies'>, key: string): Reply | undefined {
  const reply = Object.hasOwn(replies, key) ? replies[key] : undefined
  const form = elicited.safeParse(reply)
  if (form.success)
    return { kind: 'elicited', action: form.data.action, content: form.data.content ?? undefined }
  const message = sampled.safeParse(reply)
  if (message.success) return { kind: 'sampled', ...message.data } as Reply // blocks are known by their type alone
  const folders = roots.safeParse(reply)
  return folders.success ? ({ kind: 'roots', ...folders.data } as Reply) : undefined
}

/** The fields of a form that the user sent off; undefined where it was not, or where they do not fit: then ask again. */
export function accepted<Fields extends Shape>(
  input: Pick<Input, 'replies'>,
  key: string,
  fields: Fields,
): z.output<z.ZodObject<Fields>> | undefined {
  const reply = replyTo(input, key)
  if (reply?.kind !== 'elicited' || reply.action !== 'accept') return undefined
  const parsed = z.object(fields).safeParse(reply.content)
  return parsed.success ? parsed.data : undefined
}
