/** The files of a data folder, each with how a backup treats it. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { requireInitialized } from '@causeway/store'
import {
  findMarkedDatabase,
  type OwnedPart,
  orderOf,
  type Treatment,
  treatmentOf,
} from '../domain/data-part.ts'

/** A file that belongs in a backup. */
export interface FoundFile extends Treatment {
  readonly kind: 'database' | 'files'
  /** Below the data folder, divided by `/`. */
  readonly path: string
  readonly bytes: number
  /** Another one after each change of a file that is replaced by rename. */
  readonly mark: string
}

/**
 * Everything that belongs in a backup, in the order in which it is copied. By name only: nothing is opened. Throws
 * `DATA_MISSING` for a database that was initialized before and is now missing or empty.
 */
export async function survey(dataDir: string, parts: readonly OwnedPart[]): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = []
  const seen = new Set<string>()
  const look = async (below: string): Promise<void> => {
    const folder = join(dataDir, below)
    const real = await realpath(folder)
    if (seen.has(real)) return
    seen.add(real)
    // Backwards: in a repository of git, references are seen before the objects that they need.
    for (const name of (await readdir(folder)).sort().reverse()) {
      const path = `${below}${name}`
      // A folder that is a link is followed: data may have been moved to a larger disk.
      const facts = await stat(join(dataDir, path), { bigint: true }).catch(gone)
      if (facts?.isDirectory()) {
        if (treatmentOf(`${path}/`, parts).kind !== 'passing') await look(`${path}/`)
        continue
      }
      const marked = findMarkedDatabase(path, parts)
      if (marked !== undefined) requireInitialized(join(dataDir, marked))
      const treatment = treatmentOf(path, parts)
      if (facts?.isFile() !== true || treatment.kind === 'passing') continue
      const mark = `${facts.ino}:${facts.size}:${facts.mtimeNs}`
      found.push({ ...treatment, kind: treatment.kind, path, bytes: Number(facts.size), mark })
    }
  }
  await look('')
  return found.sort((a, b) => orderOf(a, parts) - orderOf(b, parts))
}

/** A file that was removed since its folder was read; any other error is thrown. */
function gone(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
