import { readFileSync, statSync } from 'node:fs'
import { GatewayError } from '../errors.ts'

/** Returns `undefined` for a missing file. Throws `GATEWAY_CONFIG_INVALID` if it is unreadable or too large. */
export function readPrivateFile(path: string, maxBytes = 2 ** 20): string | undefined {
  try {
    const { size } = statSync(path)
    if (size > maxBytes)
      throw new GatewayError('GATEWAY_CONFIG_INVALID', `larger than ${maxBytes} bytes: ${path}`, {
        data: { path },
      })
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (error instanceof GatewayError) throw error
    throw new GatewayError('GATEWAY_CONFIG_INVALID', `cannot read the file (${code}): ${path}`, {
      data: { path },
      cause: error,
    })
  }
}
