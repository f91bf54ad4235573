/** Where the desks of sessions are: below the data folder, each under the id of its session. */
import { basename, dirname, join, sep } from 'node:path'

/** The folder of all desks. */
export const desksOf = (dir: string): string => join(dir, 'trm', 'desks')

/** The desk of a session. */
export const deskOf = (dir: string, sid: string): string => join(desksOf(dir), sid)

/** The session whose desk a path was, in whichever data folder; undefined for any other folder. */
export const sidOfDesk = (path: string): string | undefined =>
  dirname(path).endsWith(`${sep}${join('trm', 'desks')}`) ? basename(path) : undefined
