import { writeFileSync } from 'node:fs'
import { defineApp, defineErrors } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import t from 'tap'
import { z } from 'zod'
import { verifies } from '../../test/verifies.ts'
import { apps } from '../src/apps.ts'
import { ErrorCatalog } from '../src/host/error-catalog.ts'
import { demoApp } from './demo-app.ts'
import { openTestCore, testCaller } from './test-core.ts'

const declaration = { status: 422, about: 'the lamp is broken', remedy: 'replace it' }

const appWith = (
  name: string,
  ...errors: { definitions: ReturnType<typeof defineErrors>['definitions'] }[]
) => defineApp({ name, about: 'Fails.', errors, open: () => ({}), session: () => ({}) }, () => {})

verifies('app:errors:owner', 'a code of another app is rejected when the server starts', async (t) => {
  const second = appWith('Second', defineErrors({ NO_RECORDING: declaration }))
  await t.rejects(openTestCore(t, [demoApp().app, second]), {
    code: 'INVALID_APP',
    message: 'Second declares the error code NO_RECORDING, which belongs to Demo',
  })
})

verifies('app:errors:owner', 'a user app with a code of the server is reported and not served', async (t) => {
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

t.test('an app that declares a code twice is rejected', async (t) => {
  const twice = () => defineErrors({ LAMP_BROKEN: declaration })
  t.throws(() => appWith('Lamp', twice(), twice()), {
    code: 'INVALID_APP',
    message: 'declared twice: Lamp.LAMP_BROKEN',
  })
})

t.test('apps share the errors of a library, and a reloaded app replaces its own', async (t) => {
  const library = defineErrors({ LAMP_BROKEN: declaration })
  const catalog = new ErrorCatalog()
  catalog.add(appWith('One', library))
  catalog.add(appWith('Two', library, defineErrors({ LAMP_HOT: declaration })))
  catalog.add(appWith('Two', library, defineErrors({ LAMP_HOT: { ...declaration, about: 'it is hot' } })))
  t.same(catalog.codes, ['LAMP_BROKEN', 'LAMP_HOT'])
  t.equal(catalog.describe('LAMP_HOT'), 'it is hot')
  t.equal(catalog.describe('ok'), 'ok')
})

verifies('app:errors:owner', 'an app can throw a code that another app declares', async (t) => {
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

t.test('every code of the built-in apps has one owner', async (t) => {
  const catalog = new ErrorCatalog()
  for (const app of [appWith('Causeway', CausewayError), ...apps]) catalog.add(app)
  t.ok(catalog.codes.includes('NO_RECORDING'))
})
