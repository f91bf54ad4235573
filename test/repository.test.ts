import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { Test } from 'tap'
import { checkCommits, subjectProblem } from '../.ci/commits.mjs'
import { failures, summary } from '../.ci/summary.mjs'
import { version as bridgeVersion } from '../bridge/src/version.ts'
import { judge } from '../scripts/coverage.ts'
import {
  bundledManifest,
  type Manifest,
  serverManifest,
  withDependencies,
} from '../scripts/pack/manifests.ts'
import { citations, gaps } from './citations.ts'
import { requirements, rowCount } from './requirements.ts'
import { files, repository, testFiles } from './tree.ts'
import { expectFailure, verifies } from './verifies.ts'

const cited = new Map(
  testFiles(repository).map((file) => [file, citations(readFileSync(`${repository}/${file}`, 'utf8'))]),
)

t.test('each requirement has a test', async (t) => {
  t.same(gaps(Object.keys(requirements), cited).unproved, [])
})

t.test('requirements: each citation refers to an existing row', async (t) => {
  t.same(gaps(Object.keys(requirements), cited).unknown, [])
})

t.test('requirement ids are unique and well-formed', async (t) => {
  t.equal(Object.keys(requirements).length, rowCount())
  const form = /^[a-z]+(:[a-z0-9]+(-[a-z0-9]+)*){1,2}$/
  t.same(
    Object.keys(requirements).filter((id) => !form.test(id)),
    [],
  )
})

t.test('citations are calls of verifies, not comments, strings or other names', async (t) => {
  const text = [
    "verifies('a:one', async () => {})",
    "  verifies(\n    'a:two',",
    "// verifies('a:comment', fn)",
    `const text = "verifies('a:string')"`,
    "clarifies('a:other', fn)",
  ].join('\n')
  t.same(citations(text), ['a:one', 'a:two'])
})

t.test('gaps names requirements without a test and unknown citations', async (t) => {
  const found = gaps(['a:one', 'a:two'], new Map([['x.test.ts', ['a:one', 'a:three']]]))
  t.same(found, { unproved: ['a:two'], unknown: ['x.test.ts: a:three'] })
})

t.test('a known failure passes while the test fails, and fails when the test passes', async (t) => {
  const row = { origin: 'this test', behaviour: 'one is two', knownFailure: 'arithmetic' }
  const broken = new Test({
    name: 'kept by now',
    cb: expectFailure(row, async (t) => void t.equal(1, 1)),
  })
  broken.resume()
  await new Promise<void>((resolve) => broken.main(() => resolve()))
  t.notOk(broken.passing(), 'a known failure that passes is a failure')
  await t.test(
    'a failing assertion is expected',
    expectFailure(row, async (t) => void t.equal(1, 2)),
  )
  await t.test(
    'a rejection is expected',
    expectFailure(row, async () => {
      throw new Error('known')
    }),
  )
})

const floors = [
  { part: 'pure', pattern: /^pure\//, percent: 100 },
  { part: 'the rest', pattern: /./, percent: 50 },
]

t.test('coverage compares each part with its own floor and names the worst files', async (t) => {
  const sources = ['pure/a.ts', 'pure/b.ts', 'rim/c.ts'].map((path) => ({ path, text: '' }))
  const covered = new Map([
    ['pure/a.ts', { total: 10, covered: 10 }],
    ['pure/b.ts', { total: 10, covered: 9 }],
    ['rim/c.ts', { total: 10, covered: 5 }],
  ])
  t.same(judge(sources, covered, floors), {
    lines: ['pure: 95.0 % of lines, floor 100 %', 'the rest: 50.0 % of lines, floor 50 %'],
    failures: ['pure is below its floor; worst: pure/b.ts (1)'],
  })
})

verifies('workshop:coverage:absent-file', async (t) => {
  const text = [
    '// a comment',
    `import { x } from './x.ts'`,
    'export function f() {',
    '  return x',
    '}',
  ].join('\n')
  const { failures } = judge([{ path: 'rim/absent.ts', text }], new Map(), floors)
  t.same(failures, ['the rest is below its floor; worst: rim/absent.ts (3)'])
})

t.test('coverage: an absent file of types and re-exports has no lines', async (t) => {
  const text = [
    '/** A shape. */',
    'export interface Shape {',
    '  readonly size: number',
    '}',
    `export type { A } from './a.ts'`,
    `export { b, c } from './b.ts'`,
    `export * from './d.ts'`,
  ].join('\n')
  t.same(judge([{ path: 'rim/index.ts', text }], new Map(), floors).failures, [])
})

const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')

/** The first cells of the tables under a heading of CONTRIBUTING.md, without code marks. */
function firstCells(heading: string): string[] {
  const [, section = ''] = read('CONTRIBUTING.md').split(`## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^\| `(.+?)` \|/gm)].map(([, cell]) => cell ?? '')
}

t.test('CONTRIBUTING.md has at most 150 lines', async (t) => {
  t.ok(read('CONTRIBUTING.md').trimEnd().split('\n').length <= 150)
})

t.test('the time limits of the steps of .ci/run add up to at most 85 minutes', async (t) => {
  const limits = [...read('.ci/run').matchAll(/^ {2}"\S+ (\d+) /gm)].map(([, seconds]) => Number(seconds))
  t.ok(limits.length > 10)
  const minutes = limits.reduce((sum, seconds) => sum + seconds, 0) / 60
  t.ok(minutes <= 85, `${minutes} minutes`)
})

t.test('CONTRIBUTING.md lists exactly the npm scripts of package.json', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const [, text = ''] = read('CONTRIBUTING.md').split(/^## /m)
  const listed = [
    ...text.matchAll(/`npm run ([\w:]+)/g),
    ...text.matchAll(/`npm (start|test)\b/g),
    ...text.matchAll(/`(help:\w+)`/g),
  ].map(([, name = '']) => name)
  t.same([...new Set(listed)].sort(), Object.keys(scripts).sort())
})

t.test('CONTRIBUTING.md refers only to existing files', async (t) => {
  const text = read('CONTRIBUTING.md')
  const folders = new Set(files(repository).map((path) => path.split('/')[0] ?? ''))
  const named = [...text.matchAll(/(?<![\w/.-])((?:[\w.-]+\/)+[\w.-]*|[A-Z]+\.md)/g)]
    .map(([, path = '']) => path)
    .filter((path) => folders.has(path.split('/')[0] ?? ''))
  t.ok(named.length > 10)
  t.same(
    named.filter((path) => !existsSync(`${repository}/${path}`)),
    [],
  )
})

t.test('CONTRIBUTING.md lists every step of .ci/run in order', async (t) => {
  const steps = [...read('.ci/run').matchAll(/^ {2}"(\S+) \d+ /gm)].map(([, name]) => name)
  t.ok(steps.length > 10)
  t.same(firstCells('Continuous integration'), steps)
})

t.test('CONTRIBUTING.md lists every CAUSEWAY_ variable that a test reads', async (t) => {
  const tests = files(repository).filter((path) => /(^|\/)test\/.+\.(ts|mjs)$/.test(path))
  const found = tests.flatMap((path) =>
    [...read(path).matchAll(/process\.env\.(CAUSEWAY_\w+)/g)].map(([, name = '']) => name),
  )
  const listed = firstCells('Variables that tests read')
  t.ok(found.length > 10)
  t.same(
    found.filter((name) => !listed.includes(name)),
    [],
  )
})

t.test('every decision record has its row in the index, one format and at most 30 lines', async (t) => {
  const records = files(repository).filter((path) => /^docs\/decisions\/\d{4}-.+\.md$/.test(path))
  const index = read('docs/decisions/README.md')
  t.ok(records.length > 10)
  for (const path of records) {
    const text = read(path)
    const name = path.split('/').at(-1) ?? ''
    t.ok(index.includes(`](${name})`), `${name} is in the index`)
    t.ok(text.trimEnd().split('\n').length <= 30, `${name} has at most 30 lines`)
    t.same(
      text.match(/^## .+$/gm),
      ['## Context', '## Decision', '## Consequences'],
      `${name} has the format`,
    )
  }
})

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

const json = (path: string) => JSON.parse(readFileSync(`${repository}/${path}`, 'utf8'))
const paths = ['package.json', 'bridge/package.json', 'server/package.json'].concat(
  globSync('packages/*/package.json', { cwd: repository }),
)
const all: readonly Manifest[] = paths.map(json)
const ours = new Map(all.map((manifest) => [manifest.name, manifest]))

verifies('workshop:package:one-version', async (t) => {
  const { version } = json('package.json')
  for (const { name, version: its, license, engines, dependencies, devDependencies } of all) {
    t.equal(its, version, name)
    t.ok(license, `${name} has a license`)
    t.ok(engines.node, `${name} declares its Node version`)
    for (const [other, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
      t.equal(wanted, ours.get(other)?.version ?? wanted, `${name} depends on ${other}`)
  }
  t.equal(bridgeVersion, version)
  const locked = json('package-lock.json').packages
  for (const path of paths)
    t.equal(locked[path.replace(/\/?package\.json$/, '')].version, version, `${path} in the lockfile`)
  const [, newest] = /^## \[(\d[^\]]*)\]/m.exec(readFileSync(`${repository}/CHANGELOG.md`, 'utf8')) ?? []
  t.equal(newest, version, 'the newest version of the changelog')
})

verifies(
  'workshop:package:whole',
  'the server bundles every workspace package that it depends on',
  async (t) => {
    const server = ours.get('causeway-mcp') as Manifest
    const made = serverManifest(server, ours)
    t.ok(made.bundleDependencies.includes('@causeway/embed'), 'including the dependencies of apps')
    t.notOk(made.bundleDependencies.includes('causeway-mcp-bridge'), 'the bridge is a package of its own')
    const known = { ...made.dependencies, ...made.optionalDependencies }
    for (const { dependencies = {}, optionalDependencies = {} } of withDependencies(server, ours))
      for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
        t.equal(known[name], version, name)
    t.notMatch(
      JSON.stringify([made, ...all.map(bundledManifest)]),
      '@causeway/source',
      'no export refers to sources',
    )
  },
)

verifies('workshop:package:whole', 'two versions of a third-party package are rejected', async (t) => {
  const base = { version: '1.0.0', description: '', license: 'X', type: 'module', engines: {} }
  const one = { ...base, name: '@causeway/one', dependencies: { zod: '1.0.0' } }
  const server = { ...base, name: 'server', dependencies: { '@causeway/one': '1.0.0', zod: '2.0.0' } }
  t.throws(() => serverManifest(server, new Map([[one.name, one]])), {
    message: /different versions of zod: 2\.0\.0 and 1\.0\.0/,
  })
})
