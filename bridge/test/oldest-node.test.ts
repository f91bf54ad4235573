import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { oldestNode } from './oldest-node.ts'

t.test('oldestNode: a newer Node stands in for the oldest, but not in continuous integration', async (t) => {
  const dir = t.testdir({
    newer: { node: '#!/bin/sh\necho v24.0.0\n' },
    older: { node: '#!/bin/sh\necho v20.18.0\n' },
    empty: {},
  })
  for (const name of ['newer', 'older']) chmodSync(join(dir, name, 'node'), 0o755)
  const told: string[] = []
  const find = (env: NodeJS.ProcessEnv) =>
    oldestNode({ comment: (text) => told.push(text) }, { CAUSEWAY_CLIENT_CACHE: join(dir, 'empty'), ...env })
  const [newer, older] = [join(dir, 'newer'), join(dir, 'older')]
  t.equal(find({ PATH: `${newer}:${join(dir, 'empty')}:${older}`, CI: 'true' }), join(older, 'node'))
  t.equal(find({ CAUSEWAY_NODE20: join(older, 'node'), PATH: '', CI: 'true' }), join(older, 'node'))
  t.same(told, [])
  t.throws(() => find({ PATH: newer, CI: 'true' }), /CAUSEWAY_NODE20.*clients\.mjs install/)
  t.throws(() => find({ CAUSEWAY_NODE20: join(newer, 'node'), PATH: older }), /names no Node 20/)
  t.equal(find({ PATH: newer }), process.execPath)
  t.match(told, [/no Node 20 is found/])
})
