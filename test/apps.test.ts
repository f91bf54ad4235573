import { cpSync } from 'node:fs'
import { type Env, makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import t from 'tap'
import { openVault } from '../packages/app-toolvault/src/store.ts'
import { documented } from '../scripts/docs/makers.ts'
import { apps } from '../server/src/apps.ts'
import { listedTool, sharedMount } from '../server/src/mount.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

t.setTimeout(300_000)

/** Recordings as they are committed, and copies of what examples change. */
const rootsIn = (dir: string) =>
  makeRoots(() => [`${repository}/fixtures/recordings`, `${dir}/plots`], 'CAUSEWAY_ROOTS')

/** Calls of an app to another, which the server makes of the registry. */
const call: Env['call'] = async (name, tool, args, ctx) => {
  const other = apps.find((app) => app.name === name)?.tools.find((one) => one.name === tool)
  const store = openVault({ newId: () => 'called', roots: rootsIn('') })
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

verifies('app:size:listing', async (t) => {
  for (const app of documented) {
    const sizes = app.tools.map((tool) => ({
      name: tool.name,
      bytes: Buffer.byteLength(JSON.stringify(listedTool(sharedMount, app, tool))),
    }))
    t.same(
      sizes.filter(({ bytes }) => bytes > 2000),
      [],
      `${app.name}: each tool lists in 2 kB`,
    )
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
    t.ok(total <= 25_000, `${app.name} lists in 25 kB: ${total} bytes`)
  }
})
