import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { verifies } from '../../test/verifies.ts'
import { version } from '../src/version.ts'
import { oldestNode } from './oldest-node.ts'

const bridge = fileURLToPath(new URL('..', import.meta.url))

verifies('bridge:package', async (t) => {
  execFileSync(process.execPath, ['--conditions=@causeway/source', join(bridge, '../scripts/bundle.ts')])
  // Outside the checkout, where no node_modules is found by going up.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-package-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const node = oldestNode(t)
  const env = {
    ...process.env,
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    npm_config_cache: join(dir, 'cache'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  const run = (command: string, args: string[], cwd = dir) =>
    execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], bridge),
  )
  t.same(packed.files.map(({ path }: { path: string }) => path).sort(), [
    'README.md',
    'dist/bridge.js',
    'package.json',
  ])
  const manifest = JSON.parse(readFileSync(join(bridge, 'package.json'), 'utf8'))
  t.equal(manifest.dependencies, undefined, 'nothing to install beside it')
  const tarball = join(dir, packed.filename)
  t.equal(run('npx', ['--yes', '-p', tarball, 'causeway-bridge', '--version']).trim(), version)
})
