import type { Ask, Input } from '@causeway/app-kit'
import { CausewayError, type InputRequest } from '@causeway/protocol'
import {
  createRequestStateCodec,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** From `initialize` or the message. */
export type Capabilities = Readonly<Record<string, unknown>>

/** State of a call between its runs. The client stores it, signed. */
interface RequestState {
  readonly call: string
  readonly kept: unknown
}

/** A user may answer a day later. */
const stateTtlSeconds = 24 * 60 * 60

export class InputCodec {
  readonly #states: RequestStateCodec<RequestState>

  /** `key` signs the states and stays the same after a restart. */
  constructor(key: Uint8Array) {
    this.#states = createRequestStateCodec<RequestState>({ key, ttlSeconds: stateTtlSeconds })
  }

  get verify(): RequestStateCodec<RequestState>['verify'] {
    return this.#states.verify
  }

  /** Throws `INVALID_PARAMS` for the state of another `call`, which also identifies the client. */
  decode({ mcpReq }: ServerContext, call: string, capabilities: Capabilities | undefined): Input {
    const state = mcpReq.requestState<RequestState>()
    if (state !== undefined && state.call !== call)
      throw new CausewayError('INVALID_PARAMS', 'the requestState belongs to another call', {
        remedy: 'send back the requestState of the same call',
      })
    return { ...createInput(capabilities), replies: mcpReq.inputResponses ?? {}, kept: state?.kept }
  }

  async encode({ questions, kept }: Ask, call: string): Promise<InputRequiredResult> {
    const state = kept === undefined ? {} : { requestState: await this.#states.mint({ call, kept }) }
    // The SDK validates the questions.
    return {
      resultType: 'input_required',
      inputRequests: { ...questions },
      ...state,
    } as InputRequiredResult
  }
}

export const createInput = (capabilities: Capabilities = {}): Input => ({
  replies: {},
  kept: undefined,
  can: (question) => canAnswer(capabilities, question),
})

/**
 * An empty `elicitation` means that forms are supported
 * (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
 */
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
