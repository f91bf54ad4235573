import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A hash over files of the checkout and the platform: what an installation depends on.
 *
 * @type {(root: string, files: readonly string[]) => string}
 */
export function fingerprint(root, files) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/**
 * Runs `work` unless the stamp file already holds this fingerprint and every `outcome` exists. The old stamp goes first
 * and the new one comes last, so that an interrupted run is repeated. True when it ran.
 *
 * @type {(stamp: { file: string, print: string, outcomes?: readonly string[] }, work: () => Promise<void>) => Promise<boolean>}
 */
export async function unlessStamped({ file, print, outcomes = [] }, work) {
  if (existsSync(file) && readFileSync(file, 'utf8') === print && outcomes.every((path) => existsSync(path)))
    return false
  rmSync(file, { force: true })
  await work()
  writeFileSync(file, print)
  return true
}
