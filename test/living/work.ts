/** Work for a server that is copied, killed or stopped, with the checks of the data afterwards. */
import type { Test } from 'tap'
import { type HttpAnswer, postJson } from '../e2e/http.ts'

/** The server that does the work. */
export interface Place {
  readonly url: string
  /** Data folder of the server. */
  readonly dir: string
}

/** Whether the user's folders are as the server left them, or newer than its data. */
export type Surroundings = 'unchanged' | 'later'

/** Work on one store. */
export interface Work<Promised = unknown> {
  /** The store that the work uses. */
  readonly name: string
  readonly env?: Readonly<Record<string, string>>
  /** Runs before each start of the server. */
  readonly before?: () => void
  /** Creates what the work needs, on the first server. */
  begin(place: Place): Promise<void>
  /** Does one piece of work. Rejects if the call fails. */
  step(place: Place): Promise<void>
  /** Returns a copy of what the server has acknowledged so far. */
  promised(): Promised
  /** Checks that a restarted server has everything in `promised`, and continues from its state. */
  check(t: Test, place: Place, promised: Promised, surroundings: Surroundings): Promise<void>
}

/** The error of a call with an HTTP status other than 200. */
export class CallError extends Error {
  readonly response: HttpAnswer

  constructor(tool: string, response: HttpAnswer) {
    super(`${tool}: ${response.status} ${JSON.stringify(response.json)}`)
    this.response = response
  }
}

/** Calls a tool over REST. `request` is the id that makes the call safe to repeat. */
export async function tool(
  url: string,
  [app, name]: readonly [app: string, tool: string],
  args: object,
  { session = 'living', request }: { readonly session?: string; readonly request?: string } = {},
) {
  const headers = { 'causeway-session': session, ...(request && { 'causeway-request': request }) }
  const response = await postJson(url, `/api/apps/${app}/tools/${name}`, args, { headers })
  if (response.status === 200) return response.json
  throw new CallError(`${app}.${name}`, response)
}

/** Returns the members of `wanted` that are not in `found`. */
export const missing = <T>(wanted: Iterable<T>, found: Iterable<T>): T[] => {
  const there = new Set(found)
  return [...wanted].filter((one) => !there.has(one))
}
