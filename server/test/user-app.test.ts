import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../test/verifies.ts'
import { demoApp } from './demo-app.ts'
import { call, openTestCore, toolNames } from './test-core.ts'

const appText = (greeting: string): string => `
import { defineApp } from '@causeway/app-kit'
import { z } from 'zod'
import { greet } from './greet.mjs'
export default defineApp({ name: 'Mine', about: 'My own.', open: () => ({}), session: () => ({}) }, (app) => {
  app.tool('hello', {
    about: 'Says hello.', input: { who: z.string().describe('whom') }, output: { text: z.string() },
    example: { args: { who: 'you' } }, run: ({ who }) => ({ text: greet(who) + ${JSON.stringify(greeting)} }),
  })
})`

const greetText = (word: string): string => `export const greet = (who) => '${word} ' + who`

verifies(
  'app:user:by-path',
  'it is loaded, called, and loaded again when any of its files changed',
  async (t) => {
    const dir = t.testdir({ 'mine.mjs': appText('!'), 'greet.mjs': greetText('Hello') })
    const core = await openTestCore(t, [demoApp().app], { dir, env: { CAUSEWAY_USER_APPS: './mine.mjs' } })
    t.match(await call(core, 'Mine__hello', { who: 'Ada' }), { structuredContent: { text: 'Hello Ada!' } })
    t.match(await call(core, 'Mine__hello', {}), { isError: true }, 'checked by the same rules as our own')

    writeFileSync(join(dir, 'greet.mjs'), greetText('Good day'))
    utimesSync(join(dir, 'greet.mjs'), new Date(), new Date(Date.now() + 10_000))
    await core.refresh()
    t.match(await call(core, 'Mine__hello', { who: 'Ada' }), { structuredContent: { text: 'Good day Ada!' } })
  },
)

verifies(
  'app:user:broken',
  'one that does not load is reported, and a broken change leaves the last good one',
  async (t) => {
    const dir = t.testdir({
      'mine.mjs': appText('!'),
      'greet.mjs': greetText('Hello'),
      'broken.mjs': 'export default 7',
    })
    const core = await openTestCore(t, [demoApp().app], {
      dir,
      env: { CAUSEWAY_USER_APPS: './mine.mjs:./broken.mjs:./gone.mjs' },
    })
    t.match(await core.health(), {
      status: 'degraded',
      apps: {
        Mine: { status: 'ok' },
        './broken.mjs': { reason: 'INVALID_APP' },
        './gone.mjs': { status: 'failed' },
      },
    })
    writeFileSync(join(dir, 'mine.mjs'), 'export default {')
    utimesSync(join(dir, 'mine.mjs'), new Date(), new Date(Date.now() + 10_000))
    await core.refresh()
    t.ok(toolNames(core).includes('Mine__hello'))
    t.match(await call(core, 'Mine__hello', { who: 'Ada' }), { structuredContent: { text: 'Hello Ada!' } })
  },
)
