/** Reads HDF5 files. Datasets are columns with their paths as names. */
import { type FileHandle, open } from 'node:fs/promises'
import { isCausewayError } from '@causeway/protocol'
import type { OrderHint } from '../../domain/imports/propose-mapping.ts'
import { maxColumns, type OpenSource } from '../source.ts'
import {
  type Attributes,
  type Dataset,
  type DatasetMetadata,
  type OpenedFile,
  openFile,
} from './hdf5-library.ts'
import { getWidth, type RowArray, type RowReader, readRows, selectRowArrays } from './row-arrays.ts'
import {
  batchRows,
  checkExpansion,
  createDamageError,
  createLimitError,
  isIntegers,
  type Table,
  type Values,
} from './table.ts'
import { TableSource } from './table-source.ts'

/** Maximum number of objects and group depth. A group may contain itself. */
const maxObjects = maxColumns
const maxDepth = 32

const maxChunkBytes = 256 * 1024 ** 2

/** Maximum memory for the rows of all datasets that are read together. */
const maxBlockBytes = 256 * 1024 ** 2

/** Maximum ratio of a dataset's size to the file's size. */
const maxRatio = 200

const [integerClass, floatClass, stringClass] = [0, 1, 3]

export const openHdf5: OpenSource = async (path) => {
  const handle = await open(path, 'r')
  let opened: OpenedFile | undefined
  try {
    const { size } = await handle.stat()
    opened = await convertErrors(path, () => openFile(handle.fd, size))
    return new TableSource(openTable(opened, { handle, size, path }), path)
  } catch (error) {
    closeQuietly(opened)
    await handle.close()
    throw error
  }
}

async function convertErrors<Result>(path: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toDamageError(error, path)
  }
}

function toDamageError(error: unknown, path: string): unknown {
  if (isCausewayError(error)) return error
  const [reason] = String((error as Error | undefined)?.message ?? error).split('\n')
  return createDamageError(`the HDF5 file cannot be read (${reason?.slice(0, 200)})`, path, error)
}

function closeQuietly(opened: OpenedFile | undefined): void {
  try {
    opened?.close()
  } catch {
    // A damaged file may throw. The worker ends after the import.
  }
}

interface Hdf5Array extends RowArray {
  readonly dataset: Dataset
  readonly metadata: DatasetMetadata
}

interface FileFacts {
  readonly handle: FileHandle
  readonly size: number
  readonly path: string
}

function openTable(opened: OpenedFile, { handle, size, path }: FileFacts): Table {
  const { arrays, unreadNames } = listArrays(opened, path)
  const rows = selectRowArrays(arrays)
  if (rows.proposedColumns.length === 0) throw createDamageError('the file has no datasets of numbers', path)
  return {
    format: 'HDF5',
    ...rows,
    orderHint: findOrder(opened),
    notes: [...unreadNames.slice(0, 20), ...rows.notes],
    read(names, { signal }) {
      const selectedArrays = arrays.filter(({ name }) => names.includes(name))
      const maxBytes = maxBlockBytes / selectedArrays.length
      return readRows(selectedArrays, (array) => new BlockReader(array, { size, path, maxBytes }), {
        path,
        signal,
      })
    },
    async close() {
      closeQuietly(opened)
      await handle.close()
    },
  }
}

/** Does not follow links to other files. */
function listArrays({ module, file }: OpenedFile, path: string) {
  const arrays: Hdf5Array[] = []
  const unreadNames: string[] = []
  let objects = 0
  const visit = (group: string, depth: number): void => {
    for (const child of module.get_names(file.file_id, group, false)) {
      objects += 1
      if (objects > maxObjects) throw createLimitError('the file has more objects', maxObjects, path)
      const name = `${group === '/' ? '' : group}/${child}`
      const type = module.get_type(file.file_id, name)
      if (type === module.H5G_GROUP) {
        if (depth === maxDepth)
          throw createLimitError(`groups are nested deeper at ${name.slice(0, 100)}`, maxDepth, path)
        visit(name, depth + 1)
      } else if (type === module.H5G_DATASET) {
        const array = toArray(name.slice(1), file.get(name) as Dataset)
        if (array === undefined) unreadNames.push(`${name.slice(1)} has a type that is not read`)
        else arrays.push(array)
      }
    }
  }
  try {
    visit('/', 1)
  } catch (error) {
    throw toDamageError(error, path)
  }
  return { arrays, unreadNames }
}

function toArray(name: string, dataset: Dataset): Hdf5Array | undefined {
  const { metadata } = dataset
  const { type, size, vlen, shape, virtual_sources: sources = [] } = metadata
  const isNumber = type === integerClass ? size <= 8 : type === floatClass && (size === 4 || size === 8)
  const isText = type === stringClass && !vlen
  if (shape === null || sources.length > 0 || !(isNumber || isText)) return undefined
  return { name, type: isText ? 'text' : 'number', shape, dataset, metadata }
}

/** Isaac Lab's files have `env_args` in the group `data`. From format version 1, their quaternions are xyzw. */
function findOrder({ module, file }: OpenedFile): OrderHint | null {
  try {
    const isIsaac =
      module.get_type(file.file_id, '/data') === module.H5G_GROUP &&
      module.get_attribute_names(file.file_id, '/data').includes('env_args')
    const version = isIsaac ? readNumber(file.attrs, 'format_version') : undefined
    if (version === undefined) return null
    const order = version >= 1 ? 'xyzw' : 'wxyz'
    return {
      order,
      reason: `the order is ${order}: the file declares format_version ${version} of Isaac Lab`,
    }
  } catch {
    return null
  }
}

function readNumber(attributes: Attributes, name: string): number | undefined {
  const value = attributes[name]?.value
  const number = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN
  return Number.isInteger(number) ? number : undefined
}

interface BlockOptions {
  readonly size: number
  readonly path: string
  /** Maximum size of a block, unless a batch needs more. */
  readonly maxBytes: number
}

/** Reads blocks of at least one chunk if `maxBytes` permits it, so that each chunk is decompressed once. */
class BlockReader implements RowReader {
  readonly #array: Hdf5Array
  readonly #path: string
  readonly #width: number
  readonly #blockRows: number
  #block: Values = new Float64Array()
  #start = 0
  #end = 0

  constructor(array: Hdf5Array, { size, path, maxBytes }: BlockOptions) {
    const { name, shape, metadata } = array
    this.#array = array
    this.#path = path
    this.#width = getWidth(shape)
    const rowBytes = this.#width * metadata.size
    checkExpansion(
      name,
      { claimedBytes: (shape[0] ?? 0) * rowBytes, storedBytes: size, ratio: maxRatio },
      path,
    )
    const chunk = (metadata.chunks ?? []).reduce((a, b) => a * b, metadata.size)
    if (chunk > maxChunkBytes)
      throw createLimitError(`${name} has chunks of ${chunk} bytes`, maxChunkBytes, path)
    const maxRows = Math.max(1, Math.floor(maxBytes / Math.max(1, rowBytes)))
    this.#blockRows = Math.min(maxRows, Math.max(batchRows, metadata.chunks?.[0] ?? 0))
  }

  read(start: number, count: number): Values {
    const width = this.#width
    const from = start - this.#start
    if (start >= this.#start && start + count <= this.#end)
      return this.#block.slice(from * width, (from + count) * width)
    const end = Math.min(this.#array.shape[0] ?? 0, start + Math.max(count, this.#blockRows))
    this.#block = this.#readRows(start, end)
    this.#start = start
    this.#end = end
    return this.#block.slice(0, count * width)
  }

  #readRows(start: number, end: number): Values {
    const { dataset, shape, type } = this.#array
    try {
      const values = dataset.slice([[start, end], ...shape.slice(1).map(() => [] as const)])
      return toValues(values, type, (end - start) * this.#width)
    } catch (error) {
      throw toDamageError(error, this.#path)
    }
  }
}

function toValues(values: unknown, type: RowArray['type'], count: number): Values {
  if (type === 'text') return (values as readonly unknown[]).map(String)
  if (isIntegers(values) || values instanceof Float64Array) return requireCount(values, count)
  return requireCount(Float64Array.from(values as ArrayLike<number>, Number), count)
}

function requireCount<Numbers extends Exclude<Values, readonly string[]>>(
  values: Numbers,
  count: number,
): Numbers {
  if (values.length !== count) throw new Error(`${values.length} of ${count} values were read`)
  return values
}
