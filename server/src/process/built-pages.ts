import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns the folder that `npm run build` creates, and that the published server contains. */
export const findBuiltPages = (): string =>
  join(dirname(fileURLToPath(import.meta.resolve('@causeway/console/package.json'))), 'pages')

/** Returns the content of a file, or `undefined` if it does not exist. */
export async function readIfExists(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
