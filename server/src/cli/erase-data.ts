/** Removing what an app keeps in the data folder. */
import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DataPart } from '@causeway/app-kit'
import { changeFile, sidecars } from '@causeway/store'

/** What is there of the parts, by paths below the data folder: files, and folders that belong to the app as a whole. */
export function dataOf(dataDir: string, parts: readonly DataPart[]): readonly string[] {
  const found = parts.flatMap(({ path, kind }) => {
    const names = path.includes('*') ? matches(dataDir, path) : [path.replace(/\/$/, '')]
    return kind === 'database' ? names.flatMap((name) => ['', ...sidecars].map((end) => name + end)) : names
  })
  return [...new Set(found)].filter((path) => existsSync(join(dataDir, path))).sort()
}

/** `recordings/*.db`: one star, in the name of a file. */
function matches(dataDir: string, pattern: string): readonly string[] {
  const folder = dirname(pattern)
  const [start = '', end = ''] = pattern.slice(folder.length + 1).split('*')
  return entries(join(dataDir, folder))
    .filter((name) => name.length > start.length + end.length && name.startsWith(start) && name.endsWith(end))
    .map((name) => `${folder}/${name}`)
}

const entries = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])

/**
 * Removes them, and folders that are empty then. Links are removed and never followed. In reverse order, a database goes after
 * its marker: if this is interrupted, what is left is not taken for a loss.
 */
export function eraseData(dataDir: string, paths: readonly string[]): void {
  for (const path of paths.toReversed()) rmSync(join(dataDir, path), { recursive: true, force: true })
  for (const folder of new Set(paths.map((path) => dirname(path))))
    if (folder !== '.' && existsSync(join(dataDir, folder)) && entries(join(dataDir, folder)).length === 0)
      rmdirSync(join(dataDir, folder))
}

/** Forgets the state that clients have in an app, which speaks of what is gone. */
export function forgetClients(dataDir: string, app: string): void {
  const file = join(dataDir, 'server.db')
  if (existsSync(file)) changeFile(file, [{ sql: 'DELETE FROM client_state WHERE app = ?', values: [app] }])
}

/** Bytes of a file, or of everything in a folder; what is gone by now counts nothing. */
export function bytesOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}
