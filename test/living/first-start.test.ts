/** First starts that are killed: at every write, flush, truncation, rename and removal. */
import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { errorMetaKey } from '@causeway/protocol'
import { requireInitialized } from '@causeway/store'
import t, { type Test } from 'tap'
import { apps } from '../../server/src/apps.ts'
import { takeDataFolder } from '../../server/src/backup/data-folder.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkFiles, findLeftovers } from './all-works.ts'
import { canInjectFaults, FaultyDisk } from './faulty-disk.ts'
import { storeCalls } from './released.ts'
import { tool } from './work.ts'

t.setTimeout(1_800_000)

/** Maximum number of states to start from. `CAUSEWAY_LONG` starts from every state. */
const maxStates = process.env.CAUSEWAY_LONG === undefined ? 25 : Number.POSITIVE_INFINITY

const settings = { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_RATE_LIMITS: 'off' }

/** Error codes of an unusable store. Other errors are allowed, such as a missing recording. */
const storeFailure = /^(DATA_|STORE_|APP_UNAVAILABLE|INTERNAL|WORKER_LOST)/

/** Starts on the files of a killed first start, uses every store, and truncates every database. */
async function checkState(t: Test, dir: string): Promise<void> {
  takeDataFolder(dir, {}).release()
  const core = await openTestCore(t, apps, {
    log: captureLog('silent').log,
    env: { ...settings, CAUSEWAY_DATA_DIR: dir, CAUSEWAY_TRM_ROOTS: dir },
  })
  for (const [name, args] of Object.values(storeCalls)) {
    const { _meta } = (await call(core, name, args)) as { _meta?: { [errorMetaKey]?: { code: string } } }
    t.notMatch(_meta?.[errorMetaKey]?.code ?? '', storeFailure, name)
  }
  const mind = await call(core, 'Minds__create_mind', { mind_id: 'ada', config: { traits: [] } })
  t.match(mind.structuredContent, { status: 'created' })
  const { apps: states } = await core.health()
  t.same(
    Object.entries(states).filter(([, { status }]) => status !== 'ok'),
    [],
  )
  await core.close()
  checkFiles(t, dir)
  t.same(findLeftovers(dir), [])
  for (const name of readdirSync(dir).filter((name) => name.endsWith('.db'))) {
    truncateSync(join(dir, name))
    t.throws(() => requireInitialized(join(dir, name)), { code: 'DATA_MISSING' }, name)
  }
}

verifies('fault:first-start', async (t) => {
  if (!canInjectFaults) {
    t.pass('states of a first start', { skip: 'no C compiler for the library that saves them' })
    return
  }
  const root = t.testdir({ data: {}, disk: {} })
  const dir = join(root, 'data')
  const disk = new FaultyDisk(join(root, 'disk'), dir, { saveStates: true })
  const { url, server } = await startServer(t, { dir, env: { ...settings, ...disk.env } })
  // Some stores are opened by the first call that needs them.
  for (const [wireName, args] of Object.values(storeCalls)) {
    const [app = '', name = ''] = wireName.split('__')
    await tool(url, [app.toLowerCase(), name], args).catch(() => undefined)
  }
  server.process.kill('SIGKILL')
  await server.exited
  const states = readdirSync(disk.statesFolder).sort()
  t.ok(states.length > 100, `${states.length} states`)
  const step = Math.max(1, states.length / maxStates)
  for (let at = 0; at < states.length; at += step) {
    const state = states[Math.floor(at)] as string
    await t.test(`state ${state}`, (t) => checkState(t, join(disk.statesFolder, state)))
  }
})
