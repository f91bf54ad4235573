/**
 * Bundles the bridge for Node 20.18 and newer, without dependencies: `bridge/dist/bridge.js`, and `bridge/dist/login.js` with the OAuth code,
 * which is loaded when a server requires a login. It resolves the sources of the workspace, so no build is required. The licenses of the
 * bundled packages are at the end of each file, and in a file next to them.
 */
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { bundledFolders, type Component, formatNotices, readComponent } from './pack/notices.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const output = `${root}/bridge/dist`

/**
 * CommonJS in an ES module: an `import` statement loads a module of Node even if it is not used, and reads its getters, which load more.
 */
const commonJs: BuildOptions = {
  format: 'cjs',
  banner: { js: 'const require = process.getBuiltinModule, moduleUrl = import.meta.url' },
  define: { 'import.meta.url': 'moduleUrl' },
}

const unusedModules = /undici.lib.(dispatcher.client-h2|web.fetch.body|llhttp.llhttp_simd-wasm)\.js$/

/**
 * Empties modules of undici that the bridge does not use: they take time to load. Without the SIMD parser, undici uses the other one,
 * which runs on every processor.
 */
const omitUnused: Plugin = {
  name: 'omit-unused',
  setup: ({ onLoad }) => onLoad({ filter: unusedModules }, () => ({ contents: '' })),
}

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
  options: BuildOptions = {},
): Promise<readonly Component[]> {
  const unfinished = `${output}/${name}.${process.pid}`
  try {
    const { metafile } = await build({
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
      logLevel: 'warning',
      ...options,
      metafile: true,
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
const bridge = await writeBundle('bridge/src/main.ts', 'bridge.js', {
  ...commonJs,
  plugins: [separateLogin, omitUnused],
})
const components = new Map([...bridge, ...login].map((component) => [component.name, component]))
writeFileSync(`${output}/THIRD-PARTY-NOTICES.txt`, formatNotices([...components.values()]))
