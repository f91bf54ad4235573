import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { checkCommits, subjectProblem } from '../.ci/commits.mjs'
import { failures, summary } from '../.ci/summary.mjs'
import { verifies } from './verifies.ts'

t.test('summary adds up the last totals of each log', async (t) => {
  const logs = [
    '# { total: 3, pass: 3 }\nmore\n# { total: 9, pass: 8, skip: 1 }\n# time=1ms\n',
    '# { total: 2, pass: 2 }\n',
  ]
  t.same(summary(0, logs), { line: '10 passed, 0 failed, 1 skipped', code: 0 })
})

t.test('summary counts failures and keeps the exit code', async (t) => {
  t.same(summary(3, ['# { total: 4, pass: 2, fail: 2 }']), { line: '2 passed, 2 failed', code: 3 })
})

t.test('summary shows one failure for a failed run without a failed test', async (t) => {
  t.same(summary(1, ['# { total: 4, pass: 4 }']), { line: '4 passed, 1 failed', code: 1 })
  t.same(summary(124, ['error TS2345']), { line: '0 passed, 1 failed', code: 124 })
})

t.test('summary fails a run without tests, or with failures and exit code 0', async (t) => {
  t.same(summary(0, ['all is well']), { line: '0 passed, 1 failed', code: 1 })
  t.same(summary(0, ['# { total: 2, pass: 1, fail: 1 }']), { line: '1 passed, 1 failed', code: 1 })
})

t.test('failures returns nothing for a step that succeeded', async (t) => {
  t.same(failures('ok 1 - a\n# { total: 1, pass: 1 }\n==> check: exit 0, 3 s\n'), [])
})

t.test('failures returns every `not ok` line with its block, including the line of the file', async (t) => {
  const log = [
    '    ok 1 - fine',
    '    not ok 2 - should be equal',
    '      ---',
    '      diff: 1 is not 2',
    '      ...',
    '    ok 3 - fine',
    '    not ok 4 - later # TODO',
    'not ok 1 - a.test.ts # time=3ms',
    '==> check: exit 1, 3 s',
  ]
  t.same(failures(log.join('\n')), [log[8], log[1], log[2], log[3], log[4], log[7]])
})

t.test('failures returns a truncated block up to the end of the log', async (t) => {
  const log = ['not ok 1 - a', 'not ok 2 - b', '  ---', '  diff: 1', '==> check: exit 137, 900 s']
  t.same(failures(log.join('\n')), [log[4], log[0], log[1], log[2], log[3]])
})

t.test('failures returns the last lines of a log without `not ok` lines', async (t) => {
  const log = Array.from({ length: 50 }, (_, at) => `line ${at}`)
  const found = failures([...log, '==> soak: exit 124, 420 s', ''].join('\n'))
  t.same([found[0], found[1], found.at(-1)], ['==> soak: exit 124, 420 s', 'line 20', 'line 49'])
})

/** Creates a repository with one empty commit per subject; returns its folder and the id of the first commit. */
function repositoryWith(t: Test, subjects: readonly string[]) {
  const folder = t.testdir()
  const run = (...args: string[]) => git(folder, ...args)
  run('init', '--quiet', '--initial-branch=main')
  for (const subject of subjects) run('commit', '--quiet', '--allow-empty', '--message', subject)
  return { folder, run, base: run('rev-list', '--max-parents=0', 'HEAD') }
}

function git(cwd: string, ...args: string[]): string {
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false']
  return execFileSync('git', [...author, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
}

verifies('workshop:commits:subjects', async (t) => {
  const long = `docs: ${'x'.repeat(67)}`
  const { folder, base } = repositoryWith(t, [
    'Before the convention',
    'feat(replay)!: add seek_frame',
    'fix: close the store',
    'Fix the store',
    long,
  ])
  const { checked, problems } = checkCommits(folder, base)
  t.equal(checked, 4, 'the base is not checked')
  t.match(problems, [
    /^\w+ docs: x+: has 73 characters, more than 72$/,
    /^\w+ Fix the store: is not a Conventional Commit/,
  ])
  t.equal(problems.length, 2)
})

verifies('workshop:commits:subjects', 'merge commits and git reverts are accepted', async (t) => {
  const { folder, run, base } = repositoryWith(t, ['Before the convention', 'feat: add a tool'])
  run('commit', '--quiet', '--allow-empty', '--message', 'Revert "feat: add a tool"')
  run('checkout', '--quiet', '-b', 'side', 'HEAD~1')
  run('commit', '--quiet', '--allow-empty', '--message', 'fix: correct a tool')
  run('merge', '--quiet', '--no-ff', '--message', "Merge branch 'main' into side", 'main')
  t.same(checkCommits(folder, base), { checked: 3, problems: [] })
  t.equal(subjectProblem('revert: add a tool'), undefined)
})

verifies('workshop:commits:subjects', 'a shallow clone reports what it could not check', async (t) => {
  const { folder, base } = repositoryWith(t, ['Before the convention', 'Bad', 'fix: a', 'Worse'])
  const clone = join(folder, 'clone')
  git(folder, 'clone', '--quiet', '--depth=2', pathToFileURL(folder).href, clone)
  const { checked, problems, unchecked } = checkCommits(clone, base)
  t.equal(checked, 2)
  t.match(problems, [/^\w+ Worse: is not a Conventional Commit/])
  t.match(unchecked, `back to ${base}`)
})

verifies('workshop:commits:subjects', 'a base that a full clone does not contain is a problem', async (t) => {
  const { folder } = repositoryWith(t, ['fix: a'])
  const base = '0'.repeat(39).concat('1')
  t.same(checkCommits(folder, base).problems, [`base commit ${base} does not exist in this repository`])
})
