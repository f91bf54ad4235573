import { chmodSync, lstatSync, mkdirSync } from 'node:fs'

/** Makes sure that a folder exists in which no other user can put a link where we write; `Error` where that is not so. */
export function makePrivateFolder(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const stat = lstatSync(dir)
  const user = process.getuid?.()
  if (!stat.isDirectory() || (user !== undefined && stat.uid !== user))
    throw new Error(`not a folder of this user: ${dir}`)
  if (user !== undefined && (stat.mode & 0o077) !== 0) chmodSync(dir, 0o700)
}
