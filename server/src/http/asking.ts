/** Questions to the client in the middle of a call: how they travel, and what comes back with the call that is repeated. */
import type { Ask, Input } from '@causeway/app-kit'
import { CausewayError, type InputRequest } from '@causeway/protocol'
import {
  createRequestStateCodec,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** What a client said that it can do, in `initialize` or with the message itself. */
export type Capabilities = Readonly<Record<string, unknown>>

/** Carries the questions of a call out and its replies in. */
export interface Asking {
  /** What has come with this message; `call` names the call, so that nothing kept for another one is taken for its own. */
  inputOf(ctx: ServerContext, call: string, capabilities: Capabilities | undefined): Input
  /** The result that asks. What the call keeps meanwhile is signed. */
  resultOf(ask: Ask, call: string): Promise<InputRequiredResult>
  /** Checks the signature of what a client sent back; for the SDK, which refuses the message where this throws. */
  readonly verify: (state: string, ctx: ServerContext) => Promise<Kept>
}

interface Kept {
  readonly call: string
  readonly kept: unknown
}

/** People take their time over a question. */
const keptSeconds = 24 * 60 * 60

/** Makes it over the key of the data folder, so that a question outlives a restart of the server. */
export function openAsking(key: Uint8Array): Asking {
  const codec = createRequestStateCodec<Kept>({ key, ttlSeconds: keptSeconds })
  return {
    inputOf({ mcpReq }, call, capabilities) {
      const state = mcpReq.requestState<Kept>()
      if (state !== undefined && state.call !== call)
        throw new CausewayError('INVALID_PARAMS', 'the requestState belongs to another call', {
          remedy: 'send back the requestState of the same call',
        })
      return { ...firstInput(capabilities), replies: mcpReq.inputResponses ?? {}, kept: state?.kept }
    },
    async resultOf({ questions, kept }, call) {
      const state = kept === undefined ? {} : { requestState: await codec.mint({ call, kept }) }
      // A question is one of the three that the protocol knows; its params are the SDK's to check.
      return {
        resultType: 'input_required',
        inputRequests: { ...questions },
        ...state,
      } as InputRequiredResult
    },
    verify: codec.verify,
  }
}

/** What a call knows before it has asked anything. */
export const firstInput = (capabilities: Capabilities = {}): Input => ({
  replies: {},
  kept: undefined,
  can: (question) => canAnswer(capabilities, question),
})

/** An empty `elicitation` stands for forms (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation). */
function canAnswer(
  { elicitation, sampling, roots }: Capabilities,
  { method, params }: InputRequest,
): boolean {
  if (method === 'roots/list') return roots !== undefined
  if (method === 'sampling/createMessage') return sampling !== undefined
  if (typeof elicitation !== 'object' || elicitation === null) return false
  if (params.mode === 'url') return 'url' in elicitation
  return 'form' in elicitation || !('url' in elicitation)
}
