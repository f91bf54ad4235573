import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnedPart } from '../backup/data-part.ts'

export interface StoreSize {
  readonly app: string
  /** Relative to the data folder. */
  readonly path: string
  readonly size_bytes: number
  readonly wal_bytes: number
}

/** Excludes databases that are declared by a path pattern, such as recordings. */
export async function measureStores(
  dataDir: string,
  parts: readonly OwnedPart[],
): Promise<readonly StoreSize[]> {
  const databases = parts.filter(({ kind, path }) => kind === 'database' && !path.includes('*'))
  const sizes = await Promise.all(
    databases.map(async ({ app, path }) => ({
      app,
      path,
      size_bytes: await getSize(join(dataDir, path)),
      wal_bytes: (await getSize(join(dataDir, `${path}-wal`))) ?? 0,
    })),
  )
  return sizes.flatMap(({ size_bytes, ...store }) =>
    size_bytes === undefined ? [] : [{ ...store, size_bytes }],
  )
}

const getSize = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
