/**
 * Bundles the bridge into `bridge/dist/bridge.js`: one file without dependencies, for Node 20.18 and newer.
 * It resolves the sources of `@causeway/protocol`, so no build is required. The licenses of the bundled packages are at the end of the
 * file, and in a file next to it.
 */
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundledFolders, formatNotices, readComponent } from './pack/notices.ts'

const bridge = resolve(dirname(fileURLToPath(import.meta.url)), '../bridge')
const output = `${bridge}/dist/bridge.js`
const unfinished = `${output}.${process.pid}`

/**
 * Code that runs before the bundle. V8's flags must be set before undici loads its parser, a WebAssembly module whose optimization costs
 * 13 MB of memory. The young generation is small, and parallel scavenging costs more than it saves, especially on a busy machine.
 * undici is CommonJS and needs `require`, which ES modules don't define.
 */
const banner = [
  `import { setFlagsFromString as __setFlag } from 'node:v8'`,
  `for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering', '--no-parallel-scavenge']) __setFlag(flag)`,
  `import { createRequire as __createRequire } from 'node:module'`,
  `const require = __createRequire(import.meta.url)`,
].join(';\n')

mkdirSync(dirname(output), { recursive: true })
try {
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: resolve(bridge, '..'),
    entryPoints: [`${bridge}/src/main.ts`],
    outfile: unfinished,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.18',
    conditions: ['@causeway/source'],
    minify: true,
    legalComments: 'eof',
    banner: { js: banner },
    logLevel: 'warning',
  })
  const components = bundledFolders(Object.keys(metafile.inputs)).map((folder) =>
    readComponent(resolve(bridge, '..', folder)),
  )
  for (const { name, text } of components) appendFileSync(unfinished, `/*! ${name}\n\n${text}\n*/\n`)
  writeFileSync(`${bridge}/dist/THIRD-PARTY-NOTICES.txt`, formatNotices(components))
  chmodSync(unfinished, 0o755)
  renameSync(unfinished, output)
} finally {
  rmSync(unfinished, { force: true })
}
