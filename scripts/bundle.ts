/**
 * Bundles the bridge into `bridge/dist/bridge.js`: one file without dependencies, for Node 20.18 and newer.
 * It resolves the sources of `@causeway/protocol`, so that nothing needs to be built before.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const bridge = resolve(dirname(fileURLToPath(import.meta.url)), '../bridge')
const output = `${bridge}/dist/bridge.js`
const unfinished = `${output}.${process.pid}`

/**
 * What stands before everything else in the file. V8 must be told before undici is loaded not to optimize its parser, a
 * WebAssembly module: that would cost 13 MB for as long as the bridge lives. The young generation is small, and threads
 * that help to clear it cost more than they save, the more so on a machine that is busy. And undici is CommonJS and asks for Node's
 * own modules by `require`, which an ES module does not have.
 */
const banner = [
  `import { setFlagsFromString as __setFlag } from 'node:v8'`,
  `for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering', '--no-parallel-scavenge']) __setFlag(flag)`,
  `import { createRequire as __createRequire } from 'node:module'`,
  `const require = __createRequire(import.meta.url)`,
].join(';\n')

/** The terms of what is inside, which want to travel with it. */
const license = readFileSync(resolve(bridge, '../node_modules/undici/LICENSE'), 'utf8').trim()
const footer = `/*! undici\n\n${license}\n*/`

mkdirSync(dirname(output), { recursive: true })
try {
  await build({
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
    footer: { js: footer },
    logLevel: 'warning',
  })
  chmodSync(unfinished, 0o755)
  renameSync(unfinished, output)
} finally {
  rmSync(unfinished, { force: true })
}
