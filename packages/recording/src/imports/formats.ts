/** Formats of other tools. Their readers are loaded on demand. */
import { basename } from 'node:path'
import { isBagPart } from './ros2/bag-names.ts'
import type { OpenSource } from './source.ts'

interface Format {
  /** Whether a file with this name may begin with these bytes. */
  probe(head: Uint8Array, name: string): boolean
  load(): Promise<OpenSource>
}

const startsWith = (head: Uint8Array, magic: string): boolean =>
  Buffer.from(head.subarray(0, magic.length)).equals(Buffer.from(magic, 'latin1'))

const formats: readonly Format[] = [
  {
    probe: (head, path) => /\.(csv|tsv)$/i.test(path) && !head.includes(0),
    load: async () => (await import('./tables/csv.ts')).openCsv,
  },
  {
    probe: (head) => startsWith(head, 'PAR1'),
    load: async () => (await import('./tables/parquet.ts')).openParquet,
  },
  {
    probe: (head, path) => startsWith(head, 'PK\x03\x04') && /\.npz$/i.test(path),
    load: async () => (await import('./tables/npz.ts')).openNpz,
  },
  {
    probe: (head) => startsWith(head, '\x89HDF\r\n\x1a\n'),
    load: async () => (await import('./tables/hdf5.ts')).openHdf5,
  },
  {
    // `head` is empty for a folder. MCAP files that are not of ROS 2 are opened as recordings.
    probe: (head, path) => head.length === 0 || isBagPart(path),
    load: async () => (await import('./ros2/open-bag.ts')).openBag,
  },
]

export const findFormat = (head: Uint8Array, path: string): Format | undefined =>
  formats.find(({ probe }) => probe(head, basename(path)))

export const isImportName = (path: string): boolean => /\.(csv|tsv|parquet|npz|h5|hdf5|mcap|db3)$/i.test(path)

export const getMappingPath = (path: string): string => `${path}.mapping.json`
