/**
 * Compiles the server and its packages from `src` to `dist`. It bundles the modules of each package, because Node loads few large files
 * faster than many small ones, but no other package. The files in `dist` are the exports of the package, and, at the path of their source,
 * modules that are loaded only when they are needed, and programs of threads and processes. They share files named `chunk-<hash>.js`.
 * `tsc` checks the types and writes the declarations.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
/** The console is built by Vite, and the bridge by `bundle.ts`. */
const packages = findFiles(root, '{packages/*,server}').filter((name) => name !== 'packages/console')

/** The path of a module that another module loads separately, without extension. */
const separateModule =
  /\b(?:import\(\s*'|resolveWorkerFile\(\s*'|new URL\(`)([\w./-]+?)(?:\.ts'|'|\$\{extname)/g

/** Returns the modules of a package that need a file of their own, relative to its `src`. */
function findEntries(folder: string): readonly string[] {
  const source = join(folder, 'src')
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, { readonly '@causeway/source': string }>>
  }
  const exported = Object.values(exports).map((one) => posix.relative('src', one['@causeway/source']))
  const separate = findFiles(source, '**/*.ts').flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(separateModule)].map(([, path = '']) =>
      posix.join(posix.dirname(file), `${path}.ts`),
    ),
  )
  return [...new Set(['main.ts', ...exported, ...separate])].filter((file) => existsSync(join(source, file)))
}

/** Replaces the URL of each module by `moduleUrl("<path>")`, with the path that a file of its own would have in `dist`. */
const markUrls = (folder: string): Plugin => ({
  name: 'mark-urls',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const module = toPosix(relative(join(folder, 'src'), path)).replace(/\.ts$/, '.js')
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', `moduleUrl("${module}")`)
      return { contents, loader: 'ts' }
    }),
})

/** Replaces `moduleUrl("<path>")` by an expression that is relative to the bundled file. */
const resolveUrls = (text: string, file: string): string =>
  text.replaceAll(
    /\bmoduleUrl\("(.+?)"\)/g,
    (_, module: string) => `new URL("${posix.relative(posix.dirname(file), module)}", import.meta.url).href`,
  )

async function compile(folder: string): Promise<void> {
  const output = join(folder, 'dist')
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: findEntries(folder).map((file) => ({ in: `src/${file}`, out: file.replace(/\.ts$/, '') })),
    outdir: 'dist',
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    plugins: [markUrls(folder)],
    logLevel: 'warning',
  })
  const files = new Map(outputFiles.map(({ path, text }) => [toPosix(relative(output, path)), text]))
  for (const [file, text] of files) {
    mkdirSync(dirname(join(output, file)), { recursive: true })
    writeFileSync(join(output, file), resolveUrls(text, file))
  }
  for (const file of findFiles(output, '**/*.js')) if (!files.has(file)) rmSync(join(output, file))
}

await Promise.all(packages.map((name) => compile(join(root, name))))

/** Returns relative paths with `/` on every platform. */
function findFiles(folder: string, pattern: string): string[] {
  return globSync(pattern, { cwd: folder }).map(toPosix)
}

function toPosix(path: string): string {
  return path.replaceAll(sep, '/')
}
