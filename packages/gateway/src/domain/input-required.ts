import type { Input } from '@causeway/app-kit'
import { type InputRequest, isObject, type Params } from '@causeway/protocol'

/** A result of MCP 2026-07-28 that requests input from the client. */
export interface InputRequired {
  readonly inputRequests: Readonly<Record<string, InputRequest>>
  readonly requestState?: unknown
}

export const isInputRequired = (result: unknown): result is InputRequired =>
  isObject(result) && result.resultType === 'input_required' && isObject(result.inputRequests)

/** Returns params with the client's answers. `upstream` is the state that the call stored with its questions. */
export function continueWith(upstream: unknown, { replies }: Pick<Input, 'replies'>): Params {
  if (!isObject(upstream)) return {}
  const { requestState } = upstream
  return { inputResponses: replies, ...(requestState === undefined ? {} : { requestState }) }
}
