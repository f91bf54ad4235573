import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import { StoreError } from '@causeway/store'
import { z } from 'zod'
import { ServerError } from '../errors.ts'

export const manifestName = 'causeway-backup.json'
export const dataFolder = 'data'

const isNormalizedPath = (path: string): boolean =>
  path !== '' &&
  !/[\\\0:]/.test(path) &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')

const manifestSchema = z.object({
  format: z.literal(1),
  product: z.literal('causeway'),
  version: z.string(),
  made_at: z.iso.datetime(),
  request: z.string().nullable(),
  data_dir: z.string(),
  has_secrets: z.boolean(),
  files: z.array(
    z.object({
      path: z.string().refine(isNormalizedPath),
      kind: z.enum(['database', 'files']),
      /** `null` for undeclared files. */
      app: z.string().nullable(),
      bytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      schema: z.array(z.string()).nullable(),
    }),
  ),
})

export type Manifest = z.infer<typeof manifestSchema>
export type ManifestFile = Manifest['files'][number]

/** Throws `BACKUP_NOT_FOUND`, `BACKUP_DAMAGED`, `NEWER_DATA`. */
export async function readManifest(folder: string): Promise<Manifest> {
  let text: string
  try {
    text = await readFile(join(folder, manifestName), 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (!['ENOENT', 'ENOTDIR'].includes(code)) throw error
    throw new ServerError('BACKUP_NOT_FOUND', `there is no backup: ${folder}`, { data: { folder } })
  }
  const json = parseJson(text)
  const { format } = (json ?? {}) as { readonly format?: unknown }
  if (typeof format === 'number' && format > 1)
    throw new StoreError('NEWER_DATA', `the backup was made by a newer version: ${folder}`, {
      data: { folder, format },
      remedy: 'restore it with the version that made it',
    })
  const parsed = manifestSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const path = parsed.error.issues[0]?.path.join('.') || 'its beginning'
  throw createDamagedError(folder, `its manifest is malformed at ${path}`)
}

export const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  writeFile(join(folder, manifestName), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 })

export const createDamagedError = (folder: string, problem: string, path?: string): CausewayError =>
  new ServerError('BACKUP_DAMAGED', `${problem}: ${path ?? folder}`, {
    data: { folder, ...(path === undefined ? {} : { path }) },
  })

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
