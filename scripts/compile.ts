/**
 * Compiles the server and its packages from `src` to `dist`, file by file: removes types and comments, and imports `.js` files where the
 * sources import `.ts` files. Deletes the output of deleted sources. `tsc` checks the types and writes the declarations.
 */
import { existsSync, globSync, rmSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
/** The console is built by Vite and the bridge is bundled. */
const folders = findFiles('{packages/*,server}').filter((folder) => folder !== 'packages/console')

/** Leaves every import in place. Node resolves it when the compiled file is loaded. */
const separateFiles: Plugin = {
  name: 'separate-files',
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/^(\..*)\.ts$/, '$1.js'), external: true },
    ),
}

const sources = folders.flatMap((folder) => findFiles(`${folder}/src/**/*.ts`))
await build({
  absWorkingDir: root,
  entryPoints: sources.map((file) => ({
    in: file,
    out: file.replace('/src/', '/dist/').replace(/\.ts$/, ''),
  })),
  outdir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.19',
  plugins: [separateFiles],
  logLevel: 'warning',
})

for (const folder of folders)
  for (const file of findFiles(`${folder}/dist/**/*.js`))
    if (!existsSync(resolve(root, file.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))))
      rmSync(resolve(root, file))

/** Returns paths relative to the checkout, with `/` on every platform. */
function findFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((path) => path.replaceAll(sep, '/'))
}
