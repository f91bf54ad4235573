/**
 * Writes the generated blocks of the documentation. With `--check`, lists the files with outdated blocks and fails. Blocks are
 * generated from the declarations that the program uses.
 */
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stale } from './docs/documents.ts'
import { makers } from './docs/makers.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const check = process.argv.includes('--check')
const paths = stale(root, makers, { write: !check })
for (const path of paths)
  process.stderr.write(`  ${check ? 'stale, run `npm run docs`' : 'written'}: ${path}\n`)
process.exitCode = check && paths.length > 0 ? 1 : 0
