import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { wireName } from '@causeway/protocol'
import t from 'tap'
import toolvault from '../src/index.ts'
import { shelf } from '../src/shelf.ts'
import { openVault } from './vault-kit.ts'

const tools = join(import.meta.dirname, '../src/tools')

t.test('shelf: it lists exactly the folders, each tool under its category and name', async (t) => {
  const folders = readdirSync(tools).flatMap((category) =>
    readdirSync(join(tools, category)).map((tool) => `${category}/${tool}`),
  )
  t.same(shelf.map(({ category, name }) => `${category}/${name}`).sort(), folders.sort())
})

t.test('shelf: every sample gives the command that it promises', async (t) => {
  const { command } = await openVault(t)
  for (const { name, samples } of shelf)
    for (const sample of samples)
      t.same(await command(name, sample.input), sample.expectedOutput, `${name} ${sample.name}`)
})

t.test('listing: a tool costs at most 2 kB and the app at most 25 kB', async (t) => {
  const costs = new Map(
    toolvault.tools.map(({ name, about, inputSchema, outputSchema, annotations }) => [
      name,
      Buffer.byteLength(
        JSON.stringify({
          name: wireName(toolvault.name, name),
          description: about,
          inputSchema,
          outputSchema,
          annotations,
        }),
      ),
    ]),
  )
  t.same(
    [...costs].filter(([, bytes]) => bytes > 2000),
    [],
  )
  const sum = [...costs.values()].reduce((total, bytes) => total + bytes, 0)
  t.ok(sum <= 25_000, `${sum} bytes`)
})
