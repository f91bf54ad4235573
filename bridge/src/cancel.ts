import { isId } from '@causeway/protocol'
import type { Calls } from './calls.ts'
import type { Incoming } from './message.ts'

/**
 * What becomes of `notifications/cancelled`. The era of the cancelled call decides. Stateless: the stream of its
 * answer is closed, which is the cancellation there. Legacy: the notification is forwarded, but never ahead of its
 * own call; its stream is read on for a while, since what belongs to the session may come by it. In both the client gets
 * nothing more under that id. `later` runs something after that while.
 */
export function createCancel(
  calls: Calls,
  forward: (message: Incoming, after: Promise<void>) => void,
  later: (then: () => void) => void,
): (message: Incoming) => void {
  return (message) => {
    const { requestId } = message.params
    const call = isId(requestId) ? calls.find(requestId) : undefined
    if (call === undefined || !isId(requestId)) {
      // The server may know an id that we do not; in the stateless era there is nothing to tell it.
      if (message.claimed === undefined) forward(message, Promise.resolve())
      return
    }
    if (call.message.method === 'initialize') return
    calls.settle(call, requestId)
    if (call.abort === undefined) return
    if (call.message.claimed !== undefined) call.abort()
    else {
      forward(message, call.sent)
      // Servers made with the SDK leave the stream of a call that they have cancelled open for ever.
      void call.settled.then(() => later(() => call.abort?.()))
    }
  }
}
