import { failure, type Id, success } from '@causeway/protocol'

/** A message as one line. */
export const lineOf = (message: object): Buffer => Buffer.from(JSON.stringify(message))

/** A good answer as one line. */
export const resultLine = (id: Id, result: unknown): Buffer => lineOf(success(id, result))

/** A request as one line. */
export const requestLine = (id: Id, method: string, params: object = {}): Buffer =>
  lineOf({ jsonrpc: '2.0', id, method, params })

/** A notification as one line. */
export const noticeLine = (method: string, params?: object): Buffer =>
  lineOf({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })

/** An answer that says that the other side does not know the method. */
export const unknownMethodLine = (id: Id, method: string): Buffer =>
  lineOf(failure(id, -32601, `not possible here: ${method}`))

/** An id by its JSON text: 1 and "1" are two. */
export const keyOf = (id: unknown): string => JSON.stringify(id)

/** True for an id that the bridge has made. */
export const isOwnId = (id: unknown): boolean => String(id).startsWith('causeway-bridge/')

/** Ids of messages that the bridge makes itself; no client makes such. */
export function ownIds(purpose: string): () => string {
  let made = 0
  return () => {
    made += 1
    return `causeway-bridge/${purpose}/${made}`
  }
}
