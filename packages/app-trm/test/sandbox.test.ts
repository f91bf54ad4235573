import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolders } from '../../../test/downloads/projects.mjs'
import { verifies } from '../../../test/verifies.ts'
import { hasBwrap } from '../src/runner/has-bwrap.ts'
import { openTrm } from './trm-kit.ts'

/** What a confined command must not be able to do, one check each. */
const checks = (dataDir: string) =>
  [
    'touch made.txt',
    `[ ! -e ${join(dataDir, 'trm.db')} ]`,
    '! touch "$HOME/causeway-sandbox-probe" 2>/dev/null',
    '! grep -Eq "eth0|wlan0|enp" /proc/net/dev',
    'touch "$TMPDIR/scratch"',
    '[ "$(ls /proc | grep -c "^[0-9]")" -lt 20 ]',
  ].map((check, index) => `{ ${check}; } || { echo "check ${index} failed"; exit 1; }`)

verifies(
  'trm:run:confined',
  'end to end: with bubblewrap where it works, and without it where it does not',
  async (t) => {
    const { programs } = projectFolders(process.env)
    const { PATH } = process.env
    if (programs !== undefined) process.env.PATH = `${PATH}:${programs}`
    t.teardown(() => {
      process.env.PATH = PATH
    })
    const { client, dataDir, root } = await openTrm(t, { files: { 'p/a.txt': 'a\n' } })
    const { ask } = client()
    const start = (sandbox: string) =>
      ask('start', { repo: 'p', build: checks(dataDir).join('\n'), options: { sandbox } })
    if (await hasBwrap()) {
      const { config, baseline } = await start('bwrap')
      t.equal(config.sandbox, 'bwrap')
      t.match(baseline, { signals: [{ name: 'build', ok: true, why: 'exit 0' }] })
      t.same(baseline.isolation, ['work copy', 'process group', 'limits', 'bwrap'])
    } else await t.rejects(start('bwrap'), { code: 'SANDBOX_UNAVAILABLE' })
    process.env.PATH = '/nowhere'
    await t.rejects(start('bwrap'), { code: 'SANDBOX_UNAVAILABLE' })
    process.env.PATH = PATH
    t.notOk(existsSync(join(root, 'p', 'made.txt')))
    const plain = await ask('start', { repo: 'p', build: 'true' })
    t.same(plain.baseline.isolation, ['work copy', 'process group', 'limits'])
  },
)

verifies('trm:run:confined', 'the server can want it for every session', async (t) => {
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  const { client } = await openTrm(t, { files: { 'p/a.txt': 'a\n' }, settings: { trmSandbox: 'bwrap' } })
  process.env.PATH = '/nowhere'
  const options = { sandbox: 'none' }
  await t.rejects(client().ask('start', { repo: 'p', build: 'true', options }), {
    code: 'SANDBOX_UNAVAILABLE',
  })
})
