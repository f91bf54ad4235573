import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { GatewayError } from '../errors.ts'

/**
 * Returns `undefined` for a missing file. Throws `GATEWAY_CONFIG_INVALID` if it is unreadable or too large.
 */
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

/** Atomic, also behind a symbolic link. Only the owner can read the file. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const target = resolveLink(path)
  const temporary = `${target}.${process.pid}.new`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true })
    // The mode applies only to new files.
    chmodSync(temporary, 0o600)
    renameSync(temporary, target)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function resolveLink(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path
    throw error
  }
}
