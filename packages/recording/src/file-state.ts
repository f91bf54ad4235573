import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { CausewayError } from '@causeway/protocol'

/** A file beside a database: its rollback journal or its write-ahead log. */
export interface Sidecar {
  readonly size: number
  readonly mtimeNs: bigint
}

/**
 * What tells one state of a foreign SQLite file from another without SQLite: size, times, inode, and the counter in
 * its header that every transaction of a rollback-journal writer increments (https://sqlite.org/fileformat2.html).
 */
export interface FileState {
  readonly size: number
  readonly mtimeNs: bigint
  readonly inode: bigint
  readonly changeCounter: number
  /** first bytes of the file, at most 100: the database header */
  readonly header: Buffer
  /** a journal that is not empty and not marked as done: a transaction is open, or its writer died */
  readonly journal: Sidecar | null
  /** the log of a file in WAL mode, where it is not empty */
  readonly wal: Sidecar | null
}

const headerBytes = 100
const magic = Buffer.from('SQLite format 3\0', 'latin1')

/**
 * Reads the state of a file; throws `RECORDING_NOT_FOUND` where it is gone or cannot be read, `NOT_A_DATABASE` where it
 * is a folder or a device.
 */
export async function readFileState(path: string): Promise<FileState> {
  const file = await openForeign(path)
  if (file === null)
    throw new CausewayError('RECORDING_NOT_FOUND', `there is no file ${path}`, { data: { path } })
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) {
      throw new CausewayError('NOT_A_DATABASE', `the path is no regular file: ${path}`, { data: { path } })
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
      journal: await readSidecar(`${path}-journal`, isHot),
      wal: isWal ? await readSidecar(`${path}-wal`, () => true) : null,
    }
  } finally {
    await file.close()
  }
}

/** True where nothing happened to the file between two looks. */
export const isSameState = (a: FileState, b: FileState): boolean =>
  contentOf(a) === contentOf(b) && sidecarOf(a.journal) === sidecarOf(b.journal)

/** Names one state of one file: the key of its private copy. */
export function stateKey(path: string, state: FileState): string {
  return createHash('sha256')
    .update(`${path}\0${contentOf(state)}`)
    .digest('hex')
    .slice(0, 32)
}

/** Throws `NOT_A_RECORDING` for an empty file and `NOT_A_DATABASE` for one without the SQLite header. */
export function requireDatabase(path: string, { header }: FileState): void {
  if (header.length === 0)
    throw new CausewayError('NOT_A_RECORDING', `the file is empty: ${path}`, { data: { path } })
  if (header.length < headerBytes || !header.subarray(0, magic.length).equals(magic)) {
    throw new CausewayError('NOT_A_DATABASE', `the file is not an SQLite database: ${path}`, {
      data: { path },
    })
  }
}

const sidecarOf = (sidecar: Sidecar | null): string => (sidecar ? `${sidecar.size}@${sidecar.mtimeNs}` : '')

const contentOf = ({ size, mtimeNs, inode, changeCounter, wal }: FileState): string =>
  [size, mtimeNs, inode, changeCounter, sidecarOf(wal)].join(':')

/**
 * Opens a file of somebody else for reading, or null where it is gone. Throws `RECORDING_NOT_FOUND` where it may not be
 * read. It may be no regular file: `stat` tells.
 */
export async function openForeign(path: string): Promise<FileHandle | null> {
  try {
    // Without O_NONBLOCK a named pipe would hold this open until somebody writes to it.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    throw new CausewayError('RECORDING_NOT_FOUND', `the file cannot be read: ${path}`, {
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

async function readSidecar(path: string, counts: (first: number) => boolean): Promise<Sidecar | null> {
  const file = await openForeign(path)
  if (file === null) return null
  try {
    const { size, mtimeNs } = await file.stat({ bigint: true })
    const [first] = await readHead(file, 1)
    return first !== undefined && counts(first) ? { size: Number(size), mtimeNs } : null
  } finally {
    await file.close()
  }
}

/** A journal kept after its transaction begins with zeros; SQLite decides by the first byte too. */
const isHot = (first: number): boolean => first !== 0
