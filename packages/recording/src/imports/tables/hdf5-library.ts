/** The part of h5wasm (HDF5 in WebAssembly) that the import uses. */
import { readSync } from 'node:fs'
import { importOptional } from '../../formats/optional-package.ts'

export interface DatasetMetadata {
  /** 0 is an integer, 1 a float, 3 a string. */
  readonly type: number
  /** Bytes per element. */
  readonly size: number
  readonly signed: boolean
  readonly vlen: boolean
  readonly shape: readonly number[] | null
  readonly chunks: readonly number[] | null
  readonly virtual_sources?: readonly unknown[]
}

export interface Dataset {
  readonly metadata: DatasetMetadata
  slice(ranges: readonly (readonly [number, number] | readonly [])[]): unknown
}

interface H5File {
  readonly file_id: bigint
  get(path: string): unknown
  close(): unknown
}

interface FileNode {
  usedBytes: number
  stream_ops: Readonly<Record<string, unknown>>
}

interface H5Module {
  readonly FS: {
    createFile(
      parent: string,
      name: string,
      properties: object,
      canRead: boolean,
      canWrite: boolean,
    ): FileNode
    unlink(path: string): void
    readonly streams: readonly ({ stream_ops: Readonly<Record<string, unknown>> } | null)[]
  }
  readonly H5G_GROUP: number
  readonly H5G_DATASET: number
  get_type(file: bigint, path: string): number
  get_names(file: bigint, path: string, isRecursive: boolean): string[]
  get_attribute_names(file: bigint, path: string): string[]
}

interface Library {
  readonly ready: Promise<H5Module>
  readonly default: {
    readonly File: new (name: string, mode: 'r') => H5File & { readonly attrs: Attributes }
  }
}

export type Attributes = Readonly<Record<string, { readonly value: unknown } | undefined>>

export interface OpenedFile {
  readonly module: H5Module
  readonly file: H5File & { readonly attrs: Attributes }
  close(): void
}

/**
 * Uses the browser build, whose file system contains only this file, so links cannot be followed. Throws
 * `PACKAGE_NOT_INSTALLED` and library errors.
 */
export async function openFile(descriptor: number, size: number): Promise<OpenedFile> {
  const library = await importOptional<Library>('h5wasm')
  const module = await library.ready
  disableOutput(module)
  const name = `${crypto.randomUUID()}.h5`
  const node = module.FS.createFile('/', name, {}, true, false)
  node.usedBytes = size
  const read = (_: unknown, memory: Uint8Array, offset: number, length: number, position: number) =>
    readSync(descriptor, memory, offset, length, position)
  node.stream_ops = { ...node.stream_ops, read }
  try {
    const file = new library.default.File(`/${name}`, 'r')
    if (file.file_id <= 0n) throw new Error('it is damaged or cut')
    const close = () => {
      file.close()
      module.FS.unlink(`/${name}`)
    }
    return { module, file, close }
  } catch (error) {
    module.FS.unlink(`/${name}`)
    throw error
  }
}

/** Suppresses the messages that the library prints for each error. */
function disableOutput({ FS }: H5Module): void {
  const [, , errors] = FS.streams
  if (errors)
    errors.stream_ops = { ...errors.stream_ops, write: (...[, , , length]: readonly unknown[]) => length }
}
