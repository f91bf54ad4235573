import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { verifies } from '../../test/verifies.ts'
import { startBackend } from './backend.ts'
import { startBridge } from './client.ts'
import { oldestNode } from './oldest-node.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

verifies('bridge:bundle', async (t) => {
  execFileSync(process.execPath, ['--conditions=@causeway/source', join(checkout, 'scripts/bundle.ts')])
  // Outside the checkout, where no node_modules is found by going up.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-bundle-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  for (const file of ['package.json', 'run.mjs', 'dist/bridge.js'])
    cpSync(join(checkout, 'bridge', file), join(dir, file))

  const backend = await startBackend(t)
  const node = oldestNode(t)
  for (const file of ['dist/bridge.js', 'run.mjs']) {
    const bridge = startBridge(t, { url: backend.url, node, run: [join(dir, file)] })
    t.match(await bridge.open(), { result: { protocolVersion: '2025-11-25' } }, file)
    t.match(await bridge.call(1, 'tools/list'), { result: {} })
    bridge.end()
    t.same(await bridge.exited, { code: 0, signal: null })
    t.equal(bridge.stderr, '')
  }
})
