/** Arguments that several tools take, and errors that name the request. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'

/** The mind; its form is judged in the words of the original. */
export const mindId = z.string().describe('id of the mind')

/** The name of a call, for a caller that may send it again. */
export const requestId = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe('a repeat under the same id within 10 minutes gets the first answer')

/** Runs the work of a tool; an error then carries the request's id, and what else the original's body has. */
export async function named<T>(
  request_id: string,
  work: () => Promise<T>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isCausewayError(error)) throw error
    const { code, message, remedy, data } = error
    throw new CausewayError(code, message, { remedy, data: { ...data, request_id, ...more }, cause: error })
  }
}
