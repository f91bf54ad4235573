import { lstatSync, type Stats } from 'node:fs'
import { type Check, ok, warn } from './check.ts'

/** Whether the debug log could be written where it stands, without touching it. */
export function debugLogCheck(path: string): Check {
  let stat: Stats
  try {
    stat = lstatSync(path)
  } catch {
    return ok('debug log', `${path}, written with DEBUG=true`)
  }
  const user = process.getuid?.()
  const isOwn = stat.isFile() && stat.nlink === 1 && (user === undefined || stat.uid === user)
  if (isOwn) return ok('debug log', `${path}, ${stat.size} bytes`)
  return warn('debug log', `not a file of this user alone: ${path}`, 'remove it, else no log is written')
}
