import { CausewayError, idOf, kindOf } from '@causeway/protocol'
import { errorLine } from './answer.ts'

/** Does `step`; where that fails since a value in it is nested too deeply, `otherwise`: writing JSON recurses where reading does not. */
export function ifTooDeep(step: () => void, otherwise: () => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    otherwise()
  }
}

/** Answers the requests in a message of the client that is nested too deeply to be written anew. */
export function refuseDeep(value: unknown, toClient: (json: Buffer) => void): void {
  const error = new CausewayError('INVALID_REQUEST', 'the message is nested too deeply')
  for (const message of [value].flat())
    if (kindOf(message) === 'request') toClient(errorLine(idOf(message), error))
}

/** Answers in place of an answer of the server that is nested too deeply to be written anew. */
export function replaceDeep(value: unknown, toClient: (json: Buffer) => void): void {
  const error = new CausewayError('SERVER_ANSWER_INVALID', 'the answer is nested too deeply', {
    remedy: 'ask for less at once, or report it to the author of the server',
  })
  for (const message of [value].flat())
    if (kindOf(message) === 'response') toClient(errorLine(idOf(message), error))
}
