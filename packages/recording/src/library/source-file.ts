import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { RecordingError } from '../errors.ts'
import { getMappingPath, isImportName } from '../imports/formats.ts'
import { bagMetadata, isBagPart, isRosMcap } from '../imports/ros2/bag-names.ts'
import { createStateKey, readFileState } from './file-state.ts'
import { isFrameFile } from './frame-file.ts'

const maxMappingBytes = 1024 ** 2

export interface SourceFile {
  readonly path: string
  /** Size of the file, or of all files of a bag, in bytes. */
  readonly size: number
  /** Identifies the content and the mapping. */
  readonly key: string
  /** Key for lists, which do not read mappings. */
  readonly listKey: string
  /** Mapping as JSON. */
  readonly mapping: string | undefined
}

export const toBagFolder = (path: string): string => (basename(path) === bagMetadata ? dirname(path) : path)

/** Uses the given mapping, that of the file next to `path`, or the stored one, in this order. */
export async function readSourceFile(
  path: string,
  {
    requestedMapping,
    storedMapping,
  }: { readonly requestedMapping?: string | undefined; readonly storedMapping?: string | undefined } = {},
): Promise<SourceFile> {
  if (!isImportName(path) && !(await isBag(path))) {
    const state = await readFileState(path)
    const key = createStateKey(path, state)
    return { path, size: state.size, key, listKey: key, mapping: undefined }
  }
  const mapping = requestedMapping ?? (await readMapping(path)) ?? storedMapping
  const states = await Promise.all(
    (await listFiles(path)).map(async (file) => ({ file, state: await readFileState(file) })),
  )
  const keys = states.map(({ file, state }) => createStateKey(file, state))
  const hash = createHash('sha256').update(mapping ?? '')
  for (const key of keys) hash.update(`\0${key}`)
  return {
    path,
    size: states.reduce((sum, { state }) => sum + state.size, 0),
    key: hash.digest('hex').slice(0, 32),
    listKey: keys[0] ?? '',
    mapping,
  }
}

/** Whether a path is a bag or a file of another tool. */
export async function isImported(path: string): Promise<boolean> {
  if (!isFrameFile(path)) return isImportName(path) || isBag(path)
  if (!isBagPart(path)) return false
  const { header } = await readFileState(path)
  return isRosMcap(header)
}

async function isBag(path: string): Promise<boolean> {
  try {
    return (await stat(join(path, bagMetadata))).isFile()
  } catch {
    return false
  }
}

async function listFiles(path: string): Promise<readonly string[]> {
  if (!(await isBag(path))) return [path]
  const names = (await readdir(path)).filter((name) => name === bagMetadata || isBagPart(name))
  return names.sort().map((name) => join(path, name))
}

async function readMapping(path: string): Promise<string | undefined> {
  const file = getMappingPath(path)
  try {
    const { size } = await stat(file)
    if (size > maxMappingBytes)
      throw new RecordingError('INVALID_MAPPING', `the mapping has ${size} bytes: ${file}`, {
        remedy: `write a mapping of at most ${maxMappingBytes} bytes`,
        data: { path: file },
      })
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code)) return undefined
    throw error
  }
}
