import type { Content, InputRequest, Params } from '@causeway/protocol'
import { z } from 'zod'
import { formSchema, type Shape } from './schema.ts'

const brand = Symbol.for('causeway.ask')

export interface Ask {
  readonly [brand]: true
  readonly questions: Readonly<Record<string, InputRequest>>
  /** State for the next run, as JSON. The client stores it, signed but readable. */
  readonly kept: unknown
}

/** Replies and state of previous runs. */
export interface Input {
  /** Replies by key. They are not validated: read them with `accepted` or `replyTo`. */
  readonly replies: Readonly<Record<string, unknown>>
  readonly kept: unknown
  /** Whether the client supports a question. */
  can(question: InputRequest): boolean
}

/**
 * Returns questions for the client. The tool then runs again from the start with the replies in `ctx.input`, so
 * it must not change anything before it asks
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
 */
export const ask = (questions: Readonly<Record<string, InputRequest>>, kept?: unknown): Ask => ({
  [brand]: true,
  questions,
  kept,
})

export const isAsk = (value: unknown): value is Ask =>
  typeof value === 'object' && value !== null && brand in value

/** Returns a request for a form of strings, numbers, booleans and enums. */
export const elicit = (message: string, fields: Shape): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: formSchema(message, fields) },
})

/** Returns a request to open a page, for data that the client must not see. */
export const elicitUrl = (message: string, url: string): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'url', message, url },
})

/** Returns a request to the client's model, with the params of `CreateMessageRequest`. */
export const sample = (params: Params & { readonly maxTokens: number }): InputRequest => ({
  method: 'sampling/createMessage',
  params,
})

export const listRoots = (): InputRequest => ({ method: 'roots/list' })

type Reply =
  | {
      readonly kind: 'elicited'
      readonly action: 'accept' | 'decline' | 'cancel'
      readonly content: Readonly<Record<string, unknown>> | undefined
    }
  | { readonly kind: 'sampled'; readonly model: string; readonly content: Content | readonly Content[] }
  | { readonly kind: 'roots'; readonly roots: readonly { readonly uri: string; readonly name?: string }[] }

const formReply = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).nullish(),
})
const contentBlock = z.looseObject({ type: z.string() })
const sampledReply = z.object({ model: z.string(), content: z.union([contentBlock, z.array(contentBlock)]) })
const rootsReply = z.object({ roots: z.array(z.object({ uri: z.string(), name: z.string().optional() })) })
const anyReply = z.union([
  formReply.transform(({ action, content }) => ({ kind: 'elicited', action, content: content ?? undefined })),
  sampledReply.transform((reply) => ({ kind: 'sampled', ...reply })),
  rootsReply.transform((reply) => ({ kind: 'roots', ...reply })),
])

/** Returns `undefined` for a missing or malformed reply. */
export const replyTo = ({ replies }: Pick<Input, 'replies'>, key: string): Reply | undefined =>
  anyReply.safeParse(Object.hasOwn(replies, key) ? replies[key] : undefined).data as Reply | undefined

/** Returns the fields of a form; `undefined` if it was not submitted or is invalid. */
export function accepted<Fields extends Shape>(
  input: Pick<Input, 'replies'>,
  key: string,
  fields: Fields,
): z.output<z.ZodObject<Fields>> | undefined {
  const reply = replyTo(input, key)
  if (reply?.kind !== 'elicited' || reply.action !== 'accept') return undefined
  return z.object(fields).safeParse(reply.content).data
}
