/** Writes HDF5 files with h5wasm. */
import { writeFileSync } from 'node:fs'
import { importOptional } from '../src/formats/optional-package.ts'
import { sampleFrames } from './samples/write-samples.ts'
import { tumble } from './tumbling-top.ts'

export interface H5Writer {
  create_group(name: string): H5Writer
  create_dataset(options: object): void
  create_attribute(name: string, value: unknown): void
  create_hard_link(target: string, name: string): number
  create_external_link(file: string, target: string, name: string): number
  close(): void
}

/** Writes a file with the library that also reads it. Its format is that of the HDF Group's library. */
export async function writeH5(path: string, write: (file: H5Writer) => void): Promise<void> {
  const library = await importOptional<{
    ready: Promise<{ FS: { readFile(name: string): Uint8Array } }>
    default: { File: new (name: string, mode: 'w') => H5Writer }
  }>('h5wasm')
  const { FS } = await library.ready
  const name = `/${crypto.randomUUID()}.h5`
  const file = new library.default.File(name, 'w')
  write(file)
  file.close()
  writeFileSync(path, FS.readFile(name))
}

const pick = (read: (row: ReturnType<typeof tumble>[number]) => readonly number[]): Float64Array =>
  Float64Array.from(tumble(sampleFrames).flatMap(read))

export function writeTop(group: H5Writer): void {
  const add = (name: string, data: Float64Array, width: number, options = {}) =>
    group.create_dataset({
      name,
      data,
      shape: width === 1 ? [sampleFrames] : [sampleFrames, width],
      ...options,
    })
  add(
    't',
    pick(({ time }) => [time]),
    1,
  )
  add(
    'position',
    pick(({ position }) => position),
    3,
    { chunks: [50, 3], compression: 6 },
  )
  add(
    'quat',
    pick(({ orientation: [w, ...axis] }) => [...axis, w]),
    4,
  )
  add(
    'velocity',
    pick(({ velocity }) => velocity),
    3,
  )
  add(
    'omega',
    pick(({ spin }) => spin),
    3,
  )
}
