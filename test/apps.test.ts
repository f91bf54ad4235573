import { cpSync } from 'node:fs'
import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import { documented } from '../scripts/docs/makers.ts'
import { apps } from '../server/src/apps.ts'
import { listedTool, sharedMount } from '../server/src/mount.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

const recordings = makeRoots(() => [`${repository}/fixtures/recordings`], 'CAUSEWAY_RECORDING_ROOTS')

verifies('app:example:runs', async (t) => {
  for (const app of apps) {
    const dir = t.testdir({ data: {}, projects: {} })
    cpSync(`${repository}/fixtures/projects`, `${dir}/projects`, { recursive: true })
    const settings = { trmRoots: [`${dir}/projects`] }
    const opened = await openForTest(app, { dir: `${dir}/data`, roots: recordings, settings })
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
