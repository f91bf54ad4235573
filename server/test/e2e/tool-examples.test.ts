import { cpSync } from 'node:fs'
import { type Env, makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import t from 'tap'
import { Vault } from '../../../packages/app-toolvault/src/store.ts'
import { repository } from '../../../test/tree.ts'
import { verifies } from '../../../test/verifies.ts'
import { apps } from '../../src/apps.ts'

t.setTimeout(600_000)

/** Returns roots with the committed recordings and with copies of the files that examples change. */
const rootsIn = (dir: string) =>
  makeRoots(() => [`${repository}/fixtures/recordings`, `${dir}/plots`], 'CAUSEWAY_ROOTS')

/** Calls another app, as the server does through its registry. */
const call: Env['call'] = async (name, tool, args, ctx) => {
  const other = apps.find((app) => app.name === name)?.tools.find((one) => one.name === tool)
  const store = new Vault({ newId: () => 'called', roots: rootsIn('') })
  try {
    const none = { can: () => false, replies: {}, kept: undefined }
    const state = { store, session: {}, sharedSession: true, input: none, note: () => {} }
    const answer = await other?.call(args, { ...ctx, ...state })
    return answer !== undefined && 'structuredContent' in answer ? answer.structuredContent : undefined
  } finally {
    await store.close()
  }
}

verifies('app:example:runs', async (t) => {
  for (const app of apps) {
    const dir = t.testdir({ data: {}, projects: {}, plots: {} })
    for (const name of ['projects', 'plots'])
      cpSync(`${repository}/fixtures/${name}`, `${dir}/${name}`, { recursive: true })
    const settings = { trmRoots: [`${dir}/projects`] }
    const opened = await openForTest(app, { dir: `${dir}/data`, roots: rootsIn(dir), settings, call })
    t.teardown(() => opened.close())
    for (const { name, example } of app.tools) {
      const client = opened.client()
      for (const { tool, args } of example.before ?? []) await client.call(tool, args)
      await t.resolves(client.call(name, example.args), `${app.name}.${name}`)
    }
  }
})
