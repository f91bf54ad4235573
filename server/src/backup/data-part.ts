import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataPart } from '@causeway/app-kit'
import { requireInitialized } from '@causeway/store'

export interface OwnedPart extends DataPart {
  readonly app: string
}

interface BackupRule {
  readonly kind: DataPart['kind']
  /** `undefined` for undeclared files. */
  readonly part: OwnedPart | undefined
}

export interface DataFile extends BackupRule {
  readonly kind: 'database' | 'files'
  readonly path: string
  readonly bytes: number
  /** Changes when a rename replaces the file. */
  readonly version: string
}

const transientNamePattern = /(-wal|-shm|-journal|\.part|\.tmp|\.new|\.lock)$/
const markerNamePattern = /^(.+)\.initialized$/

export function findBackupRule(path: string, parts: readonly OwnedPart[]): BackupRule {
  if (transientNamePattern.test(path) || findMarkedDatabase(path, parts) !== undefined)
    return { kind: 'passing', part: undefined }
  const part = parts.find((candidate) => matchesPart(path, candidate.path))
  return { kind: part?.kind ?? (path.endsWith('.db') ? 'database' : 'files'), part }
}

function findMarkedDatabase(path: string, parts: readonly OwnedPart[]): string | undefined {
  const [, file] = markerNamePattern.exec(path) ?? []
  return file !== undefined && findBackupRule(file, parts).kind === 'database' ? file : undefined
}

/** `recordings/a.db` matches `recordings/*.db`, `recordings/` and itself. */
export function matchesPart(path: string, pattern: string): boolean {
  if (pattern.endsWith('/')) return path.startsWith(pattern)
  const [start, end] = pattern.split('*')
  if (start === undefined || end === undefined) return path === pattern
  const matchedText = path.slice(start.length, path.length - end.length)
  return path.startsWith(start) && path.endsWith(end) && matchedText !== '' && !matchedText.includes('/')
}

/**
 * Returns files in copying order: the order of their parts, then undeclared files. Does not open files. Throws
 * `DATA_MISSING`.
 */
export async function listFiles(dataDir: string, parts: readonly OwnedPart[]): Promise<readonly DataFile[]> {
  const files: DataFile[] = []
  const visitedFolders = new Set<string>()
  const visit = async (prefix: string): Promise<void> => {
    const folder = join(dataDir, prefix)
    const realFolder = await realpath(folder)
    if (visitedFolders.has(realFolder)) return
    visitedFolders.add(realFolder)
    // In reverse order, git references precede the objects to which they refer.
    for (const name of (await readdir(folder)).sort().reverse()) {
      const path = `${prefix}${name}`
      // Follows links, because users move large folders elsewhere.
      const stats = await stat(join(dataDir, path), { bigint: true }).catch(ignoreRemoved)
      if (stats?.isDirectory()) {
        if (findBackupRule(`${path}/`, parts).kind !== 'passing') await visit(`${path}/`)
        continue
      }
      const markedDatabase = findMarkedDatabase(path, parts)
      if (markedDatabase !== undefined) requireInitialized(join(dataDir, markedDatabase))
      const { kind, part } = findBackupRule(path, parts)
      if (stats?.isFile() !== true || kind === 'passing') continue
      const version = `${stats.ino}:${stats.size}:${stats.mtimeNs}`
      files.push({ kind, part, path, bytes: Number(stats.size), version })
    }
  }
  await visit('')
  const getRank = ({ part }: DataFile) => (part === undefined ? parts.length : parts.indexOf(part))
  return files.sort((a, b) => getRank(a) - getRank(b))
}

function ignoreRemoved(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
