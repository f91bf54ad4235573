import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ShadowGit } from '../../src/snapshot/shadow-git.ts'
import { silent } from './project-kit.ts'

t.test('a git process that is killed is a lost worker, not damage of the snapshots', async (t) => {
  const bin = t.testdir({ git: '#!/bin/sh\nkill -9 $$\n' })
  chmodSync(join(bin, 'git'), 0o700)
  const { PATH } = process.env
  process.env.PATH = bin
  t.teardown(() => {
    process.env.PATH = PATH
  })
  await t.rejects(
    new ShadowGit(join(bin, 'shadow'), silent).run(['status'], { env: { GIT_WORK_TREE: bin } }),
    {
      code: 'WORKER_LOST',
      message: 'git was ended by SIGKILL',
    },
  )
})

t.test('a git command that fails with an I/O error is reported as DATA_UNWRITABLE', async (t) => {
  const dir = t.testdir({ shadow: {}, bin: {} })
  const script =
    '#!/bin/sh\necho "fatal: unable to write loose object file: Input/output error" >&2\nexit 128\n'
  writeFileSync(join(dir, 'bin/git'), script, { mode: 0o755 })
  const { PATH } = process.env
  process.env.PATH = `${join(dir, 'bin')}:${PATH}`
  t.teardown(() => {
    process.env.PATH = PATH
  })
  const git = new ShadowGit(join(dir, 'shadow'), silent)
  await t.rejects(git.run(['write-tree']), { code: 'DATA_UNWRITABLE', data: { file: 'trm/shadow.git' } })
})

t.test(
  'a git that is killed while it creates the repository leaves nothing that breaks later snapshots',
  async (t) => {
    const { PATH = '' } = process.env
    const program =
      '#!/bin/sh\nfor last; do :; done\nmkdir -p "$last"\necho "ref: refs/heads/main" > "$last/HEAD"\nkill -9 $$\n'
    const dir = t.testdir({
      bin: { git: program },
      old: { HEAD: 'ref: refs/heads/main\n', 'config.lock': '' },
    })
    chmodSync(join(dir, 'bin/git'), 0o700)
    t.teardown(() => {
      process.env.PATH = PATH
    })
    process.env.PATH = `${join(dir, 'bin')}:${PATH}`
    const git = new ShadowGit(join(dir, 'new'), silent)
    const add = (git: ShadowGit) => git.run(['hash-object', '-w', '--stdin'], { input: 'kept' })
    await t.rejects(add(git), { code: 'WORKER_LOST' })
    process.env.PATH = PATH
    const blob = (await add(git)).toString().trim()
    t.equal(String(await new ShadowGit(join(dir, 'new'), silent).attempt(['cat-file', 'blob', blob])), 'kept')
    t.ok(await add(new ShadowGit(join(dir, 'old'), silent)), 'what an earlier version left is replaced')
  },
)
