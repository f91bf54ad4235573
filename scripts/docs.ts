/**
 * Writes the generated blocks of the documentation, or with `--check` names the files whose blocks differ from the code
 * and fails. Everything in a block comes from the declaration that the program itself runs on.
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
