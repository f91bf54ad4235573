import { existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createFolder, isReadableByOthers } from '@causeway/protocol'
import { findUnfinishedRestore, listLeftovers, toStagingFolder } from '../../backup/data-folder.ts'
import { formatBytes } from '../format.ts'
import { type Check, fail, ok, warn } from './check.ts'

const minNode = [22, 19] as const

export function checkNode(version = process.versions.node, path = process.execPath): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const text = `${version}, ${path}`
  const isSupported = major > minNode[0] || (major === minNode[0] && minor >= minNode[1])
  return isSupported ? ok('node', text) : fail('node', text, `use Node ${minNode.join('.')} or newer`)
}

export async function checkSqlite(
  load: () => Promise<{ readonly default: typeof import('better-sqlite3') }> = () => import('better-sqlite3'),
): Promise<Check> {
  try {
    const { default: Database } = await load()
    const db = new Database(':memory:')
    const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get()
    db.close()
    return ok('sqlite', `${version}, ${process.platform}-${process.arch}`)
  } catch (error) {
    const [firstLine] = (error as Error).message.split('\n')
    return fail(
      'sqlite',
      `better-sqlite3 cannot be loaded: ${firstLine}`,
      'reinstall on this machine with this Node: npm ci --ignore-scripts',
    )
  }
}

export function checkDataFolder(dataDir: string): Check {
  const restoreError = findUnfinishedRestore(dataDir)
  if (restoreError !== undefined) return fail('data', restoreError.message, restoreError.remedy)
  const exists = existsSync(dataDir)
  const error = tryWrite(dataDir)
  if (error !== undefined)
    return fail(
      'data',
      `not writable: ${dataDir} (${error.code})`,
      'correct the permissions of the folder, or choose another one with --data-dir',
    )
  if (!exists) return ok('data', `${dataDir}, created at the first start`)
  if (isReadableByOthers(statSync(dataDir).mode))
    return warn('data', `other users of this machine can read ${dataDir}`, `chmod 700 ${dataDir}`)
  const staging = toStagingFolder(resolve(dataDir))
  if (listLeftovers(dataDir).includes(staging))
    return warn(
      'data',
      `a restore is running, or was interrupted: ${staging}`,
      `if none is running: rm -r ${staging}`,
    )
  return ok('data', dataDir)
}

function tryWrite(folder: string): NodeJS.ErrnoException | undefined {
  const probe = join(folder, `.doctor-${process.pid}`)
  try {
    const createdFolder = createFolder(folder, 0o700)
    try {
      writeFileSync(probe, 'x', { flush: true, mode: 0o600 })
    } finally {
      rmSync(probe, { force: true })
      if (createdFolder !== undefined) rmSync(createdFolder, { recursive: true })
    }
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

const lowSpaceBytes = 1e9
const minSpaceBytes = 100e6

export function checkDisk(dataDir: string, freeBytes = measureFreeBytes(dataDir)): Check {
  if (freeBytes === undefined)
    return warn('disk', 'the free space is unknown', `check the disk of ${dataDir}`)
  const text = `${formatBytes(freeBytes)} free`
  const fix = 'free some space, or choose a folder on another disk with --data-dir'
  if (freeBytes < minSpaceBytes) return fail('disk', text, fix)
  return freeBytes < lowSpaceBytes ? warn('disk', text, fix) : ok('disk', text)
}

function measureFreeBytes(folder: string): number | undefined {
  if (!existsSync(folder)) return folder === dirname(folder) ? undefined : measureFreeBytes(dirname(folder))
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
