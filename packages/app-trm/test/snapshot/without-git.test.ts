/** Snapshots, work copies and sessions on a machine without git. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { randomFrom } from '../../../../test/random.ts'
import { verifies } from '../../../../test/verifies.ts'
import { openSnapshots } from '../../src/snapshot/open-snapshots.ts'
import { walkTree } from '../../src/snapshot/walk-tree.ts'
import { openStore } from '../../src/store.ts'
import { openTrm, repairSums, textOf, unittest } from '../trm-kit.ts'
import { changedPaths, fingerprint, git, silent, userProject } from './project-kit.ts'

t.setTimeout(300_000)

/** Takes git away until the test ends, or until it is called. */
function withoutGit(t: Test): () => void {
  const path = process.env.PATH
  const giveBack = () => {
    process.env.PATH = path
  }
  t.teardown(giveBack)
  process.env.PATH = '/nonexistent'
  return giveBack
}

function setUp(t: Test) {
  const dir = t.testdir({ project: {}, data: {} })
  const root = join(dir, 'project')
  userProject(root)
  const store = openStore(join(dir, 'data'), { now: Date.now })
  t.teardown(() => store.close())
  const snapshots = openSnapshots({
    dir: join(dir, 'data'),
    log: silent,
    rows: store.contents,
    keepMs: 0,
    now: () => Date.now() + 1000,
  })
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { dir, root, snapshots, put, store }
}

verifies(
  'trm:snapshot:without-git',
  'files, links, modes and large files come back; what is dropped is swept',
  async (t) => {
    const { root, snapshots, put, dir } = setUp(t)
    const bytes = Buffer.alloc(5 * 2 ** 20 + 7, 'causeway\0')
    put('large.bin', bytes)
    symlinkSync('src/app.py', join(root, 'link.py'))
    const before = fingerprint(root, { times: false })
    withoutGit(t)
    const paths = ['src/app.py', 'tool.sh', 'data.bin', 'empty.txt', 'new/file.txt', 'link.py', 'large.bin']
    const taken = await snapshots.take(root, paths)
    put('src/app.py', 'changed\n')
    chmodSync(join(root, 'tool.sh'), 0o600)
    put('large.bin', 'short')
    put('new/file.txt', 'created\n')
    for (const path of ['data.bin', 'empty.txt', 'link.py']) rmSync(join(root, path))
    const after = await snapshots.take(root, paths)
    put('tool.sh', 'by the user\n')
    t.same(await snapshots.conflicts(after), ['tool.sh'])
    await t.rejects(snapshots.restore(taken, { expected: after }), { code: 'USER_EDIT_CONFLICT' })
    await snapshots.restore(taken, { expected: after, force: true })
    t.same(changedPaths(before, fingerprint(root, { times: false })), [])
    t.equal((await snapshots.read(taken, ['src/app.py'])).get('src/app.py'), textOf(root, 'src/app.py'))
    await snapshots.drop(after)
    await snapshots.collect()
    await t.rejects(snapshots.entries(after), { code: 'SNAPSHOT_NOT_FOUND' })
    t.same(await snapshots.conflicts(taken), [], 'what another snapshot holds is still there')
    await snapshots.restore(taken, { force: true })
    t.notOk(existsSync(join(dir, 'data', 'shadow.git')))
  },
)

verifies('trm:snapshot:without-git', 'what git has kept is told and comes back with it', async (t) => {
  const { root, snapshots, put } = setUp(t)
  const taken = await snapshots.take(root, ['src/app.py'])
  const original = textOf(root, 'src/app.py')
  put('src/app.py', 'changed\n')
  const giveBack = withoutGit(t)
  const later = await snapshots.take(root, ['src/app.py'])
  await snapshots.drop('never-was')
  await t.rejects(snapshots.restore(taken), { code: 'SNAPSHOT_UNAVAILABLE' })
  giveBack()
  await snapshots.restore(taken)
  t.equal(textOf(root, 'src/app.py'), original)
  await snapshots.restore(later)
  t.equal(textOf(root, 'src/app.py'), 'changed\n', 'and so does what was kept without it')
})

verifies('trm:snapshot:without-git', 'ignore rules are read as git reads them', async (t) => {
  const names = ['a', 'b', 'c.log', 'd.py', 'build', 'out', '[x]', 'e f']
  const rules = ['*.log', '!c.log', 'build/', '/a', 'out', 'a/b', '**/d.py', 'a/**', '!d.py', '\\[x\\]']
    .concat(['[!a-c]*', '[a-c].log', 'b**', 'a/**/b', '/a/', 'e?f', '\\!a', 'c.log ', '**/', 'out/**'])
    .concat(['# out', '', 'e f', '*/c.log', '!build/', 'b/*', '!/b/a', '?', '/*', '!*/'])
  for (let seed = 1; seed <= 25; seed++) {
    const { pick } = randomFrom(seed)
    const root = join(t.testdir({ [`p${seed}`]: {} }), `p${seed}`)
    git(root, 'init', '-q')
    const folders = ['']
    for (let index = 0; index < 8; index++) {
      const folder = join(pick(folders), pick(names))
      if (!existsSync(join(root, folder))) {
        mkdirSync(join(root, folder), { recursive: true })
        folders.push(folder)
      }
    }
    for (const folder of folders)
      for (const name of names)
        if (!existsSync(join(root, folder, name))) writeFileSync(join(root, folder, name), '')
    const written = () => Array.from({ length: 3 }, () => pick(rules)).join('\n')
    writeFileSync(join(root, '.gitignore'), written())
    for (const folder of folders.slice(1, 4)) writeFileSync(join(root, folder, '.gitignore'), written())
    writeFileSync(join(root, '.git', 'info', 'exclude'), pick(rules))
    const theirs = git(root, 'ls-files', '-z', '--others', '--exclude-standard').split('\0').filter(Boolean)
    const told = folders
      .slice(0, 4)
      .map(
        (folder) =>
          `${folder}: ${existsSync(join(root, folder, '.gitignore')) ? readFileSync(join(root, folder, '.gitignore'), 'utf8') : ''}`,
      )
    t.same([...(await walkTree(root))].sort(), theirs.sort(), `seed ${seed}: ${JSON.stringify(told)}`)
  }
})

verifies('trm:snapshot:without-git', 'a session works, and takes its candidates back', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  withoutGit(t)
  const before = textOf(root, 'sums', 'sums.py')
  await ask('start', { repo: 'sums', test: unittest })
  t.match(await ask('submit', { candidate: repairSums }), { rule: 'success' })
  await ask('undo')
  t.equal(textOf(root, 'sums', 'sums.py'), before)
})
