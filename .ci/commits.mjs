/**
 * Checks the subjects of the commits after a base commit: `node .ci/commits.mjs [<folder> [<base>]]`. The base defaults to the
 * commit in `.ci/base-commit`, the last one before this convention. Exits with 1 if a subject is rejected.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const maxLength = 72
const conventional = /^(feat|fix|refactor|perf|docs|test|build|chore|ci|style|revert)(\([\w./-]+\))?!?: \S.*$/
/** The subject that `git revert` writes; it quotes a subject that was checked before. */
const gitRevert = /^Revert ".+"$/

/**
 * Returns why a subject is rejected, or `undefined` if it is accepted.
 *
 * @type {(subject: string) => string | undefined}
 */
export function subjectProblem(subject) {
  if (gitRevert.test(subject)) return undefined
  if (!conventional.test(subject)) return 'is not a Conventional Commit, `type(scope): summary`'
  if (subject.length > maxLength) return `has ${subject.length} characters, more than ${maxLength}`
  return undefined
}

/**
 * Checks the commits of a repository after `base`, without merge commits. A shallow clone may not contain all of them; `unchecked`
 * then describes the missing part.
 *
 * @type {(folder: string, base: string) => { checked: number, problems: string[], unchecked?: string }}
 */
export function checkCommits(folder, base) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const isShallow = git('rev-parse', '--is-shallow-repository') === 'true'
  const hasBase = succeeds(() => git('cat-file', '-e', `${base}^{commit}`))
  if (!hasBase && !isShallow)
    return { checked: 0, problems: [`base commit ${base} does not exist in this repository`] }
  const range = hasBase ? `${base}..HEAD` : 'HEAD'
  const lines = git('log', '--no-merges', '--format=%h %s', range).split('\n').filter(Boolean)
  const problems = lines.flatMap((line) => {
    const [id] = line.split(' ', 1)
    const problem = subjectProblem(line.slice(id.length + 1))
    return problem === undefined ? [] : [`${line}: ${problem}`]
  })
  const result = { checked: lines.length, problems }
  return hasBase
    ? result
    : { ...result, unchecked: `shallow clone: commits before the oldest one here, back to ${base}` }
}

function succeeds(run) {
  try {
    run()
    return true
  } catch {
    return false
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const [folder = root, base = readFileSync(new URL('base-commit', import.meta.url), 'utf8').trim()] =
    process.argv.slice(2)
  const { checked, problems, unchecked } = checkCommits(folder, base)
  for (const problem of problems) console.log(problem)
  console.log(`commit subjects: ${checked} checked, ${problems.length} rejected`)
  if (unchecked !== undefined) console.log(`not checked: ${unchecked}`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
