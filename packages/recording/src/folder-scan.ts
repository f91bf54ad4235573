import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** How far a scan goes. */
export interface ScanLimits {
  /** folders below the one that is scanned */
  readonly depth: number
  /** folders read */
  readonly folders: number
  /** files found */
  readonly files: number
}

/** A database file that a scan found. */
export interface FoundFile {
  readonly path: string
  /** a link may lead anywhere: its target has to be checked */
  readonly isLink: boolean
}

const databaseName = /\.(db|sqlite)$/i

/** Folders that never hold recordings of a user; hidden ones are skipped too. */
const skipped = new Set(['node_modules'])

/**
 * Database files in a folder and below it, nearest first. Folders that cannot be read, links to folders, hidden
 * folders and those that `isOff` names are passed over.
 */
export async function scanFolder(
  folder: string,
  limits: ScanLimits,
  isOff: (folder: string) => boolean,
): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = []
  let level = [folder]
  let visited = 0
  for (let depth = 0; depth <= limits.depth && level.length > 0; depth++) {
    const below: string[] = []
    for (const current of level) {
      if (isOff(current) || visited++ >= limits.folders) continue
      for (const entry of await entriesOf(current)) {
        const path = join(current, entry.name)
        if (entry.isDirectory()) {
          if (!entry.name.startsWith('.') && !skipped.has(entry.name)) below.push(path)
        } else if (databaseName.test(entry.name) && (entry.isFile() || entry.isSymbolicLink())) {
          if (found.length >= limits.files) return found
          found.push({ path, isLink: entry.isSymbolicLink() })
        }
      }
    }
    level = below
  }
  return found
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(code)) return []
    throw error
  }
}
