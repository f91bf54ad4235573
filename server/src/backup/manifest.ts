/** What a backup says of itself, in `causeway-backup.json` beside its `data/`. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { isPlainPath } from '../domain/data-part.ts'

/** Names in the folder of a backup. */
export const manifestName = 'causeway-backup.json'
export const dataFolder = 'data'

const manifestSchema = z.object({
  format: z.literal(1),
  product: z.literal('causeway'),
  /** of the program that made it */
  version: z.string(),
  made_at: z.iso.datetime(),
  /** request that asked for it, so that a repeat finds it made */
  request: z.string().nullable(),
  /** the folder that it was made of */
  data_dir: z.string(),
  has_secrets: z.boolean(),
  files: z.array(
    z.object({
      path: z.string().refine(isPlainPath),
      kind: z.enum(['database', 'files']),
      /** the app whose file it is, null where no app named it */
      app: z.string().nullable(),
      bytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      /** migrations that a database has, in order; their number is its schema version */
      schema: z.array(z.string()).nullable(),
    }),
  ),
})

/** The manifest of a backup; `bytes` are those of the copies. */
export type Manifest = z.infer<typeof manifestSchema>

/** One file of a backup. */
export type ManifestFile = Manifest['files'][number]

/** Reads the manifest of a backup; throws `BACKUP_NOT_FOUND`, `BACKUP_DAMAGED`, `NEWER_DATA`. */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, manifestName)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (!['ENOENT', 'ENOTDIR'].includes(code)) throw error
    throw new CausewayError('BACKUP_NOT_FOUND', `there is no backup: ${folder}`, { data: { folder } })
  }
  const found = readJson(text)
  const { format } = (found ?? {}) as { readonly format?: unknown }
  if (typeof format === 'number' && format > 1)
    throw new CausewayError('NEWER_DATA', `the backup was made by a newer version: ${folder}`, {
      data: { folder, format },
      remedy: 'restore it with the version that made it',
    })
  const read = manifestSchema.safeParse(found)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw damaged(folder, `its manifest is malformed at ${issue?.path.join('.') || 'its beginning'}`)
}

/** Writes the manifest of a backup. */
export const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  writeFile(join(folder, manifestName), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 })

/** A backup that is not as it was made. */
export const damaged = (folder: string, problem: string, path?: string): CausewayError =>
  new CausewayError('BACKUP_DAMAGED', `${problem}: ${path ?? folder}`, {
    data: { folder, ...(path === undefined ? {} : { path }) },
  })

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
