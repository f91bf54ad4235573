/**
 * Bundles the bridge for Node 20.18 and newer, without dependencies: `bridge/dist/bridge.js`, and `bridge/dist/login.js` with the OAuth code,
 * which is loaded when a server requires a login. It resolves the sources of the workspace, so no build is required. The licenses of the
 * bundled packages are at the end of each file, and in a file next to them.
 */
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { bundledFolders, type Component, formatNotices, readComponent } from './pack/notices.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const output = `${root}/bridge/dist`

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

/** Leaves the OAuth code in its own file. */
const separateLogin: Plugin = {
  name: 'separate-login',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@causeway\/oauth$/ }, () => ({ path: './login.js', external: true })),
}

/** Writes a bundle and returns the bundled packages. */
async function writeBundle(
  entry: string,
  name: string,
  { banner = '', plugins = [] }: { readonly banner?: string; readonly plugins?: Plugin[] } = {},
): Promise<readonly Component[]> {
  const unfinished = `${output}/${name}.${process.pid}`
  try {
    const { metafile } = await build({
      metafile: true,
      absWorkingDir: root,
      entryPoints: [`${root}/${entry}`],
      outfile: unfinished,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.18',
      conditions: ['@causeway/source'],
      minify: true,
      legalComments: 'eof',
      banner: { js: banner },
      plugins,
      logLevel: 'warning',
    })
    const components = bundledFolders(Object.keys(metafile.inputs)).map((folder) =>
      readComponent(resolve(root, folder)),
    )
    for (const { name, text } of components) appendFileSync(unfinished, `/*! ${name}\n\n${text}\n*/\n`)
    chmodSync(unfinished, 0o755)
    renameSync(unfinished, `${output}/${name}`)
    return components
  } finally {
    rmSync(unfinished, { force: true })
  }
}

mkdirSync(output, { recursive: true })
const login = await writeBundle('packages/oauth/src/index.ts', 'login.js')
const bridge = await writeBundle('bridge/src/main.ts', 'bridge.js', { banner, plugins: [separateLogin] })
const components = new Map([...bridge, ...login].map((component) => [component.name, component]))
writeFileSync(`${output}/THIRD-PARTY-NOTICES.txt`, formatNotices([...components.values()]))
