/** Checks the English of a checkout: `node test/language/lint.ts [<folder>]`. Exits with 1 if it finds a problem. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { files, repository } from '../tree.ts'
import { findRetired } from './patterns.ts'
import { covers, exempt } from './vocabulary.ts'

const textFile = /\.([cm]?[jt]sx?|md|py|sh|css|html|ya?ml)$|^\.ci\/run$/
const data = /^fixtures\/(?!generate\/|.*\.md$)|(^|\/)tap-snapshots\/|^packages\/app-trm\/test\/golden\//

/**
 * Returns every problem of the text files among `paths`, relative to `root`: unknown words, retired words, phrases and names,
 * each as `path:line: problem`.
 */
export async function lintLanguage(root: string, paths: readonly string[]): Promise<string[]> {
  const checked = paths.filter((path) => textFile.test(path) && !data.test(path))
  const retired = checked
    .filter((path) => !covers(exempt, path))
    .flatMap((path) => findRetired(path, readFileSync(join(root, path), 'utf8')))
  return [...(await runCspell(root, checked)), ...retired]
}

/** Runs cspell, which checks only the files that changed since its last run in this folder. */
async function runCspell(root: string, paths: readonly string[]): Promise<string[]> {
  const args = [
    'lint',
    ...['--config', join(repository, 'cspell.config.ts')],
    ...['--file-list', 'stdin', '--no-progress', '--no-summary', '--no-color', '--relative'],
    ...['--cache', '--cache-strategy', 'content', '--cache-location', cacheFile(root)],
  ]
  const child = spawn(process.execPath, [join(repository, 'node_modules/cspell/bin.mjs'), ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(paths.join('\n'))
  let output = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) output += chunk
  const code = child.exitCode ?? (await new Promise<number>((resolve) => child.once('close', resolve)))
  const problems = output.split('\n').filter((line) => line !== '')
  // cspell exits with 1 if it reports problems.
  if (code !== 0 && problems.length === 0) throw new Error(`cspell exited with ${code}`)
  return problems
}

/** cspell does not notice changes of what its configuration imports: the cache of other settings is deleted. */
function cacheFile(root: string): string {
  const settings = ['cspell.config.ts', 'vocabulary.ts', 'dictionary.txt', 'dictionary-test-data.txt']
  const hash = createHash('sha256')
  for (const name of settings) {
    const folder = name === 'cspell.config.ts' ? repository : import.meta.dirname
    hash.update(readFileSync(join(folder, name)))
  }
  const folder = join(root, 'node_modules/.cache/cspell')
  const file = join(folder, hash.digest('hex').slice(0, 16))
  if (!existsSync(file)) rmSync(folder, { recursive: true, force: true })
  return file
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = resolve(process.argv[2] ?? repository)
  const problems = await lintLanguage(root, files(root))
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  if (problems.length > 0) {
    process.stderr.write(
      `${problems.length} language problems. CONTRIBUTING.md explains the rules; correct words that cspell does not know belong in test/language/dictionary.txt.\n`,
    )
    process.exitCode = 1
  }
}
