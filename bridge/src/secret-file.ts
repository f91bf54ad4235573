import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { CausewayError } from '@causeway/protocol'

/** A file that holds a secret, as it was when it was read. */
export interface SecretFile {
  readonly text: string
  /** Changes whenever the file does. */
  readonly stamp: string
}

/** Reads a file that nobody but its user may read; throws `INVALID_SETTING` that says which file and what to do. */
export function readSecretFile(path: string, setting: string): SecretFile {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot read ${setting}: ${path}`, {
      data: { path, cause: (cause as NodeJS.ErrnoException).code },
      remedy: 'check that the file exists and is yours',
      cause,
    })
  }
  try {
    const stat = fstatSync(file)
    refuseShared(stat, path, setting)
    return { text: readFileSync(file, 'utf8'), stamp: stampOf(stat) }
  } finally {
    closeSync(file)
  }
}

/** What changes when a file is written, replaced or given other rights. */
export const stampOf = ({ mtimeMs, ctimeMs, size, ino }: Stats): string =>
  [mtimeMs, ctimeMs, size, ino].join(' ')

function refuseShared(stat: Stats, path: string, setting: string): void {
  if (!stat.isFile())
    throw new CausewayError('INVALID_SETTING', `${setting} is not a file: ${path}`, { data: { path } })
  // Windows keeps rights elsewhere; the mode there says nothing.
  if (process.platform === 'win32' || (stat.mode & 0o077) === 0) return
  throw new CausewayError('INVALID_SETTING', `others on this machine may read ${setting}: ${path}`, {
    data: { path, mode: (stat.mode & 0o777).toString(8) },
    remedy: `run chmod 600 ${path}`,
  })
}
