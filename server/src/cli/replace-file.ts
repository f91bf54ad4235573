/** Writing a file of the user's whole or not at all, with the old one kept beside it. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { CausewayError } from '@causeway/protocol'

/** What a file holds; undefined where there is none. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** What is written, and over what. */
export interface Replacement {
  readonly text: string
  /** What the file held when the text was made; undefined for a file that was not there. */
  readonly before: string | undefined
  /** The rights of a file that is made; one that is replaced keeps its own. */
  readonly mode?: number
  readonly now?: () => number
}

/**
 * Puts the text in the place of the file at once; gives the path of the old one's copy, where there was one. A link stays,
 * and what it leads to is replaced. Throws `CLIENT_FILE_REFUSED` where another program has changed the file meanwhile.
 */
export function replaceFile(
  path: string,
  { text, before, mode = 0o644, now = Date.now }: Replacement,
): string | undefined {
  mkdirSync(dirname(path), { recursive: true })
  const file = before === undefined ? path : realpathSync(path)
  const rights = before === undefined ? mode : statSync(file).mode & 0o777
  const stamp = new Date(now()).toISOString().replaceAll(/[:.]/g, '-')
  const backup = before === undefined ? undefined : `${file}.${stamp}.bak`
  const unfinished = `${file}.${process.pid}.new`
  try {
    writeFileSync(unfinished, text, { mode: rights, flush: true })
    // The rights that were asked for, whatever the mask takes away.
    chmodSync(unfinished, rights)
    if (textOf(path) !== before)
      throw new CausewayError('CLIENT_FILE_REFUSED', `another program has just changed ${path}`, {
        data: { path },
        remedy: 'run the command again',
      })
    if (backup !== undefined) copyFileSync(file, backup)
    renameSync(unfinished, file)
    return backup
  } finally {
    rmSync(unfinished, { force: true })
  }
}
