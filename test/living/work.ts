/** Work that a server accepts while it is copied, killed or stopped, and what must be true of it afterwards. */
import type { Test } from 'tap'
import { type HttpAnswer, postJson } from '../e2e/http.ts'

/** Where the work happens. */
export interface Place {
  readonly url: string
  /** Data folder of the server. */
  readonly dir: string
}

/** What is known of the folders that belong to the user: as the server left them, or others than its data say. */
export type Surroundings = 'as they were' | 'later'

/** Work on one store. */
export interface Work<Promised = unknown> {
  /** The store that it is about. */
  readonly name: string
  readonly env?: Readonly<Record<string, string>>
  /** What happens while no server runs. */
  readonly before?: () => void
  /** Makes what the work needs, on the first server. */
  begin(place: Place): Promise<void>
  /** One piece of work, done when it was answered; throws where it was not. */
  step(place: Place): Promise<void>
  /** What was answered so far, as a value that does not change. */
  promised(): Promised
  /** Holds a server that was started on the data against what was promised, and learns how far they are. */
  check(t: Test, place: Place, promised: Promised, surroundings: Surroundings): Promise<void>
}

/** An answer that is no success. */
export class Refused extends Error {
  readonly answer: HttpAnswer

  constructor(tool: string, answer: HttpAnswer) {
    super(`${tool}: ${answer.status} ${JSON.stringify(answer.json)}`)
    this.answer = answer
  }
}

/** Calls a tool as a script does; `request` makes a repeat safe. */
export async function tool(
  url: string,
  [app, name]: readonly [app: string, tool: string],
  args: object,
  { session = 'living', request }: { readonly session?: string; readonly request?: string } = {},
) {
  const headers = { 'causeway-session': session, ...(request && { 'causeway-request': request }) }
  const answer = await postJson(url, `/api/apps/${app}/tools/${name}`, args, { headers })
  if (answer.status === 200) return answer.json
  throw new Refused(`${app}.${name}`, answer)
}

/** Members of `wanted` that are not in `found`. */
export const missing = <T>(wanted: Iterable<T>, found: Iterable<T>): T[] => {
  const there = new Set(found)
  return [...wanted].filter((one) => !there.has(one))
}
