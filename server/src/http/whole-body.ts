/** Bodies of an app's own routes, read before the app is asked. */
import type { Readable } from 'node:stream'
import { CausewayError } from '@causeway/protocol'

/**
 * Rejects with `BODY_TOO_LARGE` as soon as there are more bytes; what is left of the body is read and dropped, since many
 * a client hears no answer before it has sent all.
 */
export function wholeBody(body: Readable, limit: { readonly bytes: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const end = (settle: () => void): void => {
      body.off('data', take).off('end', whole).off('error', reject).off('close', gone)
      settle()
    }
    const take = (part: Buffer): void => {
      size += part.length
      if (size <= limit.bytes) parts.push(part)
      else {
        end(() => reject(tooLarge(limit.bytes)))
        body.resume()
      }
    }
    const whole = (): void => end(() => resolve(Buffer.concat(parts)))
    const gone = (): void =>
      reject(new CausewayError('CANCELLED', 'the caller hung up before its request was whole'))
    body.on('data', take).on('end', whole).on('error', reject).on('close', gone)
  })
}

/** The error for a body of more bytes. */
export const tooLarge = (limitBytes: number): CausewayError =>
  new CausewayError('BODY_TOO_LARGE', `the body is larger than ${limitBytes} bytes`, {
    data: { limit_bytes: limitBytes },
  })
