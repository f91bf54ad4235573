import { setTimeout as pause } from 'node:timers/promises'
import { residentBytes } from '../program.ts'
import type { LineClient } from './line-client.ts'
import { longCall } from './relay-calls.ts'

const answers = 160
const answerBytes = 1e6
const unreadMs = 3000

/** Description of the unread data. */
export const unreadText = `${answers} answers of ${answerBytes / 1e6} MB`

/** Peak memory of a bridge in bytes. */
export interface Held {
  /** While its client did not read. */
  readonly unread: number
  /** Until its client had read everything. */
  readonly read: number
}

/** Sends all requests at once, reads nothing for a while, then reads all responses. Throws if a response is missing. */
export async function holdUnread(client: LineClient): Promise<Held> {
  const highest = () => residentBytes(client.pid, 'highest') ?? Number.NaN
  const afterwards = async (): Promise<number> => {
    await pause(unreadMs)
    const bytes = highest()
    client.resume()
    return bytes
  }
  client.pause()
  const asked = Array.from({ length: answers }, () => client.ask(longCall(answerBytes)))
  const [unread] = await Promise.all([afterwards(), ...asked])
  return { unread, read: highest() }
}
