import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fromSource } from '../../bridge/test/client.ts'
import { startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { shellBlocks } from './blocks.ts'
import { run } from './program.ts'

t.setTimeout(300_000)

const folder = `${repository}/examples/find-the-slide`
const { url } = await startServer(t, { dir: t.testdir() })
const [condition, bridge = ''] = fromSource

t.test('find-the-slide: the cause is named in at most five calls, through the bridge', async (t) => {
  const [story] = shellBlocks(readFileSync(`${folder}/README.md`, 'utf8'))
  const TMPDIR = t.testdir({})
  const commands = story?.commands.trim().replace(/^node/, `'${process.execPath}' ${condition}`)
  const { code, stdout, stderr } = await run(t, `${commands} slide_at_45 ${url}`, {
    CAUSEWAY_BRIDGE: bridge,
    TMPDIR,
  })
  t.equal(code, 0, stderr)
  t.equal(stdout, story?.output)
  t.match(stdout, /friction_cone of bodies 1 .* in frame 45/)
  t.ok(Number(/found in (\d+) calls/.exec(stdout)?.[1]) <= 5)
  t.ok(statSync(join(TMPDIR, 'slide_at_45-45.png')).size > 5000, 'and there is a picture of it')
})

t.test('find-the-slide: an unknown recording is told in the words of the server', async (t) => {
  const commands = `'${process.execPath}' ${condition} ${folder}/story.mjs nothing ${url}`
  const { code, stderr } = await run(t, commands, { CAUSEWAY_BRIDGE: bridge })
  t.equal(code, 1)
  t.match(stderr, /story: RECORDING_NOT_FOUND: /)
})
