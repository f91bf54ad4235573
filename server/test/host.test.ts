import { writeFileSync } from 'node:fs'
import { mock } from 'node:test'
import { defineApp, defineErrors } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import Database from 'better-sqlite3'
import t from 'tap'
import { z } from 'zod'
import { verifies } from '../../test/verifies.ts'
import { apps } from '../src/apps.ts'
import { Audit } from '../src/audit/audit.ts'
import { ClientStates } from '../src/host/client-states.ts'
import { ErrorCatalog } from '../src/host/error-catalog.ts'
import { ServerStore } from '../src/host/server-store.ts'
import { demoApp } from './demo-app.ts'
import { call, captureLog, openTestCore, testCaller } from './test-core.ts'

const day = 24 * 60 * 60 * 1000

verifies('app:session:one-object', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  const results = await Promise.all(
    ['a', 'a', 'b', 'a'].map((sessionKey) => call(core, 'Demo__count', {}, { sessionKey })),
  )
  t.same(
    results.map(({ structuredContent }) => structuredContent?.count),
    [1, 2, 1, 3],
  )
})

verifies('app:session:restart', async (t) => {
  const dir = t.testdir()
  const first = await openTestCore(t, [demoApp().app], { dir })
  await call(first, 'Demo__count')
  await call(first, 'Demo__count', {}, { sessionKey: 'other' })
  await first.close()
  const second = await openTestCore(t, [demoApp().app], { dir })
  t.match(await call(second, 'Demo__count'), { structuredContent: { count: 2 } })
})

verifies('app:session:expiry', async (t) => {
  const dir = t.testdir()
  let time = 1_000_000
  const open = () => openTestCore(t, [demoApp().app], { dir, now: () => time })
  let core = await open()
  await call(core, 'Demo__count')
  await core.close()
  time += day - 1
  core = await open()
  t.match(await call(core, 'Demo__count'), { structuredContent: { count: 2 } }, 'less than a day later')
  await core.close()
  time += day + 1
  core = await open()
  t.match(await call(core, 'Demo__count'), { structuredContent: { count: 1 } }, 'more than a day later')
})

/** Creates a system clock, which a test can set, and a monotonic clock. */
function createClocks() {
  const state = { now: 50 * day, monotonicNow: 0.5 }
  return {
    now: () => state.now,
    monotonicNow: () => state.monotonicNow,
    pass(ms: number) {
      state.now += ms
      state.monotonicNow += ms
    },
    set(ms: number) {
      state.now += ms
    },
  }
}

t.test('states and handshakes expire after a day of running time, not when the clock is set', async (t) => {
  const clocks = createClocks()
  const store = new ServerStore(`${t.testdir()}/server.db`, clocks)
  t.teardown(() => store.close())
  const handshake = { sessionId: 's', owner: '', mountPath: '/mcp', initialize: {}, subscriptions: [] }
  const { states, handshakes } = store
  await states.save('key', 'Demo', '{"a":1}')
  await handshakes.save(handshake)
  for (const jump of [2 * day, -3 * day]) {
    clocks.set(jump)
    t.equal(await states.load('key', 'Demo'), '{"a":1}')
    t.match(await handshakes.find('s', ''), { sessionId: 's' })
  }
  clocks.pass(day + 1)
  t.equal(await states.load('key', 'Demo'), undefined)
  t.equal(await handshakes.find('s', ''), undefined)
})

t.test('a server whose expired data cannot be deleted keeps running', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const [clocks, file] = [createClocks(), `${t.testdir()}/server.db`]
  let store: ServerStore | undefined
  t.teardown(() => store?.close())
  const failed = new Promise((onFailure) => {
    store = new ServerStore(file, { ...clocks, onFailure })
  })
  await store?.states.save('key', 'Demo', '{"a":1}')
  const db = new Database(file)
  db.exec(`CREATE TRIGGER full BEFORE DELETE ON client_state BEGIN SELECT RAISE(ABORT, 'no space'); END`)
  clocks.pass(day + 1)
  mock.timers.tick(day / 24)
  t.match(await failed, { message: 'no space' })
  db.exec('DROP TRIGGER full')
  mock.timers.tick(day / 24)
  t.equal(db.prepare('SELECT count(*) FROM client_state').pluck().get(), 0)
  db.close()
})

t.test('using an unchanged state prevents its expiry in the file', async (t) => {
  const clocks = createClocks()
  const store = new ServerStore(`${t.testdir()}/server.db`, clocks)
  t.teardown(() => store.close())
  const { app } = demoApp()
  const states = new ClientStates(store.states, { now: clocks.monotonicNow })
  await states.use('key', app, async (state) => {
    ;(state as { count: number }).count = 7
  })
  for (let hours = 0; hours < 30; hours++) {
    clocks.pass(day / 20)
    await states.use('key', app, async () => {})
  }
  const after = new ClientStates(store.states, { now: clocks.monotonicNow })
  t.equal(await after.use('key', app, async (state) => (state as { count: number }).count), 7)
})

t.test('the audit skips one trim after the clock was set forward', async (t) => {
  const clocks = createClocks()
  const trims: number[] = []
  const store = {
    append: async () => {},
    query: async () => [],
    trim: async ({ beforeMs }: { readonly beforeMs: number }) => {
      trims.push(beforeMs)
      return 0
    },
  }
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { log } = captureLog()
  const audit = new Audit({ store: store as never, keepDays: 1, maxRows: 1000, log, ...clocks })
  clocks.set(10 * day)
  mock.timers.tick(60 * 60 * 1000)
  t.equal(trims.length, 1, 'not before the next interval')
  mock.timers.tick(60 * 60 * 1000)
  t.same(trims, [49 * day, 59 * day])
  await audit.close()
})

const declaration = { status: 422, about: 'the lamp is broken', remedy: 'replace it' }

const appWith = (
  name: string,
  ...errors: { definitions: ReturnType<typeof defineErrors>['definitions'] }[]
) => defineApp({ name, about: 'Fails.', errors, open: () => ({}), session: () => ({}) }, () => {})

verifies('app:errors:owner', 'an app that declares an error code of another app is rejected', async (t) => {
  const second = appWith('Second', defineErrors({ NO_RECORDING: declaration }))
  await t.rejects(openTestCore(t, [demoApp().app, second]), {
    code: 'INVALID_APP',
    message: 'Second declares the error code NO_RECORDING, which belongs to Demo',
  })
})

verifies('app:errors:owner', 'a user app that declares a code of the server is not served', async (t) => {
  const dir = t.testdir()
  writeFileSync(
    `${dir}/mine.mjs`,
    `import { defineApp, defineErrors } from '@causeway/app-kit'
     const errors = [defineErrors({ INTERNAL: { status: 500, about: 'a', remedy: 'b' } })]
     export default defineApp({ name: 'Mine', about: 'Fails.', errors, open: () => ({}), session: () => ({}) }, () => {})`,
  )
  const core = await openTestCore(t, [demoApp().app], { dir, env: { CAUSEWAY_USER_APPS: './mine.mjs' } })
  const { apps } = await core.health()
  t.match(apps.Mine, {
    status: 'failed',
    reason: 'INVALID_APP',
    message: /INTERNAL, which belongs to Causeway/,
  })
  t.match(apps.Demo, { status: 'ok' })
})

t.test('an app that declares an error code twice is rejected', async (t) => {
  const twice = () => defineErrors({ LAMP_BROKEN: declaration })
  t.throws(() => appWith('Lamp', twice(), twice()), {
    code: 'INVALID_APP',
    message: 'declared twice: Lamp.LAMP_BROKEN',
  })
})

t.test('apps share the errors of a library, and a reloaded app replaces its own errors', async (t) => {
  const library = defineErrors({ LAMP_BROKEN: declaration })
  const catalog = new ErrorCatalog()
  catalog.add(appWith('One', library))
  catalog.add(appWith('Two', library, defineErrors({ LAMP_HOT: declaration })))
  catalog.add(appWith('Two', library, defineErrors({ LAMP_HOT: { ...declaration, about: 'it is hot' } })))
  t.same(catalog.codes, ['LAMP_BROKEN', 'LAMP_HOT'])
  t.equal(catalog.describe('LAMP_HOT'), 'it is hot')
  t.equal(catalog.describe('ok'), 'ok')
})

verifies('app:errors:owner', 'an app can throw an error code that another app declares', async (t) => {
  const mine = defineApp({ name: 'Mine', about: 'Fails.', open: () => ({}), session: () => ({}) }, (app) => {
    app.tool('fail', {
      about: 'Fail.',
      input: {
        code: z.string().describe('Code of the error'),
        remedy: z.string().optional().describe('Remedy of the error'),
      },
      output: { summary: z.string() },
      example: { args: { code: 'LAMP_BROKEN' } },
      run({ code, remedy }) {
        const options = { data: { lux: 0 }, ...(remedy === undefined ? {} : { remedy }) }
        throw new CausewayError(code as 'INTERNAL', 'it is dark', options)
      },
    })
  })
  const lamp = appWith('Lamp', defineErrors({ LAMP_BROKEN: declaration }))
  const core = await openTestCore(t, [lamp, mine])
  const fail = (args: object) => core.callTool('mine', 'fail', args, testCaller())
  await t.rejects(fail({ code: 'LAMP_BROKEN' }), {
    code: 'LAMP_BROKEN',
    message: 'it is dark',
    remedy: 'replace it',
    data: { lux: 0 },
    definition: { status: 422 },
  })
  await t.rejects(fail({ code: 'LAMP_BROKEN', remedy: 'wait' }), { code: 'LAMP_BROKEN', remedy: 'wait' })
  await t.rejects(fail({ code: 'LAMP_LOST' }), { code: 'LAMP_LOST', definition: { status: 500 } })
})

t.test('every error code of the built-in apps has one owner', async (t) => {
  const catalog = new ErrorCatalog()
  for (const app of [appWith('Causeway', CausewayError), ...apps]) catalog.add(app)
  t.ok(catalog.codes.includes('NO_RECORDING'))
})
