/** What the doctor asks of the machine: Node, the native module, the data folder, the disk. */
import { existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { leftBeside, stagingOf, unfinishedRestore } from '../backup/data-folder.ts'
import { byteText } from './byte-text.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** The oldest Node that the native module runs on. */
const oldest = [22, 19] as const

/** Node, and where it is. */
export function nodeCheck(version = process.versions.node, path = process.execPath): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const text = `${version}, ${path}`
  const isNew = major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
  return isNew ? ok('node', text) : fail('node', text, `use Node ${oldest.join('.')} or newer`)
}

/** Whether SQLite, which is machine code for one system and processor, can be loaded and used. */
export async function nativeCheck(
  load: () => Promise<{ readonly default: typeof import('better-sqlite3') }> = () => import('better-sqlite3'),
): Promise<Check> {
  try {
    const { default: Database } = await load()
    const db = new Database(':memory:')
    const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get()
    db.close()
    return ok('sqlite', `${version}, ${process.platform}-${process.arch}`)
  } catch (error) {
    const [first] = (error as Error).message.split('\n')
    return fail(
      'sqlite',
      `better-sqlite3 cannot be loaded: ${first}`,
      'install again on this machine, with this Node: npm ci --ignore-scripts',
    )
  }
}

/** Whether the folder can be written and is private, without leaving anything behind. */
export function dataCheck(dataDir: string): Check {
  const unfinished = unfinishedRestore(dataDir)
  if (unfinished !== undefined) return fail('data', unfinished.message, unfinished.remedy)
  const isThere = existsSync(dataDir)
  const probe = join(dataDir, `.doctor-${process.pid}`)
  try {
    const made = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(probe, 'x', { flush: true, mode: 0o600 })
    } finally {
      rmSync(probe, { force: true })
      if (made !== undefined) rmSync(made, { recursive: true })
    }
  } catch (error) {
    return fail(
      'data',
      `cannot be written: ${dataDir} (${(error as NodeJS.ErrnoException).code})`,
      'correct the rights of the folder, or choose another one with --data-dir',
    )
  }
  if (!isThere) return ok('data', `${dataDir}, made at the first start`)
  // Windows keeps rights elsewhere; the mode there says nothing.
  if (process.platform !== 'win32' && (statSync(dataDir).mode & 0o077) !== 0)
    return warn('data', `others on this machine may look into ${dataDir}`, `chmod 700 ${dataDir}`)
  const staging = stagingOf(resolve(dataDir))
  if (leftBeside(dataDir).includes(staging))
    return warn('data', `a restore runs, or was cut short: ${staging}`, `if none runs: rm -r ${staging}`)
  return ok('data', dataDir)
}

const scarceBytes = 1e9
const tooFewBytes = 100e6

/** Room on the disk of the data folder: recordings are copied, and SQLite writes a change twice. */
export function diskCheck(dataDir: string, freeBytes = freeAt(dataDir)): Check {
  if (freeBytes === undefined) return warn('disk', 'the system does not tell its free space', 'look yourself')
  const text = `${byteText(freeBytes)} free`
  const fix = 'free some, or choose a folder on another disk with --data-dir'
  if (freeBytes < tooFewBytes) return fail('disk', text, fix)
  return freeBytes < scarceBytes ? warn('disk', text, fix) : ok('disk', text)
}

/** Of the folder, or of the nearest one above that exists. */
function freeAt(folder: string): number | undefined {
  if (!existsSync(folder)) return folder === dirname(folder) ? undefined : freeAt(dirname(folder))
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
