import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RecordingError } from '../errors.ts'

const optionalPackages = {
  h5wasm: { version: '0.10.3', entry: 'dist/esm/hdf5_hl.js' },
  '@duckdb/node-api': { version: '1.5.6-r.1', entry: 'lib/index.js' },
} as const satisfies Record<string, { readonly version: string; readonly entry: string }>

/**
 * Imports an optional package. Also searches the folders of `CAUSEWAY_OPTIONAL_PACKAGES`. Throws
 * `PACKAGE_NOT_INSTALLED` with the install command.
 */
export async function importOptional<Module>(
  name: keyof typeof optionalPackages,
  folders: string = process.env.CAUSEWAY_OPTIONAL_PACKAGES ?? '',
): Promise<Module> {
  const { version, entry } = optionalPackages[name]
  const files = folders
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => pathToFileURL(join(folder, 'node_modules', name, entry)).href)
  let cause: unknown
  for (const specifier of [name, ...files])
    try {
      return (await import(specifier)) as Module
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
      cause = error
    }
  const command = `npm i ${name}@${version}`
  throw new RecordingError('PACKAGE_NOT_INSTALLED', `the package ${name} is not installed`, {
    remedy: `install it: ${command}, then repeat the call`,
    data: { package: name, version, command },
    cause,
  })
}
