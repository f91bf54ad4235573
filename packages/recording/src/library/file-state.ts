import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { RecordingError } from '../errors.ts'
import { findCompression } from '../formats/create-source.ts'

interface Sidecar {
  readonly size: number
  readonly mtimeNs: bigint
}

/**
 * State of a foreign SQLite file. Every transaction in rollback-journal mode increments the change counter
 * (https://sqlite.org/fileformat2.html).
 */
export interface FileState {
  readonly size: number
  readonly mtimeNs: bigint
  readonly inode: bigint
  readonly changeCounter: number
  readonly header: Buffer
  /** A non-empty, non-finalized journal: a transaction is open, or the writer died. */
  readonly journal: Sidecar | null
  /** The non-empty log of a file in WAL mode. */
  readonly wal: Sidecar | null
}

const headerBytes = 100
const magic = Buffer.from('SQLite format 3\0', 'latin1')

/** Throws `RECORDING_NOT_FOUND` and `NOT_A_DATABASE`. */
export async function readFileState(path: string): Promise<FileState> {
  const file = await openForeign(path)
  if (file === null)
    throw new RecordingError('RECORDING_NOT_FOUND', `file not found: ${path}`, { data: { path } })
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) {
      throw new RecordingError('NOT_A_DATABASE', `the path is not a regular file: ${path}`, {
        data: { path },
      })
    }
    const { size, mtimeNs, ino } = stats
    const header = await readHead(file, headerBytes)
    const isWal = header.length >= 20 && header[18] === 2
    return {
      size: Number(size),
      mtimeNs,
      inode: ino,
      changeCounter: header.length >= 28 ? header.readUInt32BE(24) : 0,
      header,
      journal: await readSidecar(`${path}-journal`, isActiveJournal),
      wal: isWal ? await readSidecar(`${path}-wal`, () => true) : null,
    }
  } finally {
    await file.close()
  }
}

export const isSameState = (a: FileState, b: FileState): boolean =>
  formatContent(a) === formatContent(b) && formatSidecar(a.journal) === formatSidecar(b.journal)

export function createStateKey(path: string, state: FileState): string {
  return createHash('sha256')
    .update(`${path}\0${formatContent(state)}`)
    .digest('hex')
    .slice(0, 32)
}

export const isDatabaseHead = (head: Buffer): boolean => head.subarray(0, magic.length).equals(magic)

/** Throws `NOT_A_RECORDING` and `NOT_A_DATABASE`. */
export function requireDatabase(path: string, { header }: FileState): void {
  if (header.length === 0)
    throw new RecordingError('NOT_A_RECORDING', `the file is empty: ${path}`, { data: { path } })
  if (header.length < headerBytes || !isDatabaseHead(header)) {
    throw new RecordingError('NOT_A_DATABASE', `the file is not an SQLite database: ${path}`, {
      ...findCompression(header),
      data: { path },
    })
  }
}

const formatSidecar = (sidecar: Sidecar | null): string =>
  sidecar ? `${sidecar.size}@${sidecar.mtimeNs}` : ''

const formatContent = ({ size, mtimeNs, inode, changeCounter, wal }: FileState): string =>
  [size, mtimeNs, inode, changeCounter, formatSidecar(wal)].join(':')

export async function openForeign(path: string): Promise<FileHandle | null> {
  try {
    // Without O_NONBLOCK, opening a named pipe would block.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    throw new RecordingError('RECORDING_NOT_FOUND', `the file cannot be read: ${path}`, {
      data: { path },
      remedy: 'give the server permission to read it',
      cause: error,
    })
  }
}

async function readHead(file: FileHandle, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
  return buffer.subarray(0, bytesRead)
}

async function readSidecar(path: string, isActive: (first: number) => boolean): Promise<Sidecar | null> {
  const file = await openForeign(path)
  if (file === null) return null
  try {
    const { size, mtimeNs } = await file.stat({ bigint: true })
    const [first] = await readHead(file, 1)
    return first !== undefined && isActive(first) ? { size: Number(size), mtimeNs } : null
  } finally {
    await file.close()
  }
}

/** A finalized journal starts with a zero byte. SQLite also checks only this byte. */
const isActiveJournal = (first: number): boolean => first !== 0
