import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { RecordingError } from '../../errors.ts'
import { createDamageError, createLimitError } from '../tables/table.ts'
import { bagMetadata, isBagPart } from './bag-names.ts'

const maxMetadataBytes = 16 * 1024 ** 2
const maxParts = 10_000

/** Returns the files of a folder, in the order of `metadata.yaml`, or the file itself. */
export async function listParts(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const folder = await realpath(path)
  const metadata = join(folder, bagMetadata)
  const { size } = await stat(metadata)
  if (size > maxMetadataBytes)
    throw createLimitError(`the metadata has ${size} bytes`, maxMetadataBytes, metadata)
  const { names, compression } = parseMetadata(await readFile(metadata, 'utf8'))
  if (compression !== '')
    throw new RecordingError(
      'NOT_A_RECORDING',
      `the files of the bag are compressed with ${compression}: ${path}`,
      {
        remedy: 'decompress the bag with ros2 bag convert',
        data: { path },
      },
    )
  if (names.length === 0) throw createDamageError('the metadata lists no files', metadata)
  if (names.length > maxParts) throw createLimitError(`the bag has ${names.length} files`, maxParts, metadata)
  return Promise.all(names.map((name) => resolvePart(folder, name, metadata)))
}

/** Rejects files outside the bag's folder, which may be outside the roots. */
async function resolvePart(folder: string, name: string, metadata: string): Promise<string> {
  let file: string
  try {
    file = await realpath(join(folder, name))
  } catch (cause) {
    throw createDamageError(`the file ${name.slice(0, 200)} of the bag does not exist`, metadata, cause)
  }
  if (file.startsWith(folder + sep) && dirname(file).startsWith(folder) && isBagPart(file)) return file
  throw createDamageError(
    `the bag lists ${name.slice(0, 200)}, which is not a bag file in its folder`,
    metadata,
  )
}

/** Parses the YAML that rosbag2 writes: block style, one entry per line. */
function parseMetadata(text: string): { readonly names: readonly string[]; readonly compression: string } {
  const lines = text.split(/\r?\n/)
  const start = lines.findIndex((line) => /^\s*relative_file_paths:\s*$/.test(line))
  const names: string[] = []
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    const [, name] = /^\s*-\s+(.+?)\s*$/.exec(line) ?? []
    if (name === undefined) break
    names.push(unquote(name))
  }
  const format = lines
    .map((line) => /^\s*compression_format:\s*(.*?)\s*$/.exec(line)?.[1])
    .find((name) => name !== undefined)
  return { names, compression: unquote(format ?? '') }
}

const unquote = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2')
