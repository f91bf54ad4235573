import { globSync, readFileSync } from 'node:fs'
import { version as bridgeVersion } from '../bridge/src/version.ts'
import { bundledManifest, type Manifest, serverManifest, withDependencies } from '../scripts/pack.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

const json = (path: string) => JSON.parse(readFileSync(`${repository}/${path}`, 'utf8'))
const paths = ['package.json', 'bridge/package.json', 'server/package.json'].concat(
  globSync('packages/*/package.json', { cwd: repository }),
)
const all: readonly Manifest[] = paths.map(json)
const ours = new Map(all.map((manifest) => [manifest.name, manifest]))

verifies('workshop:package:one-version', async (t) => {
  const { version } = json('package.json')
  for (const { name, version: its, license, engines, dependencies, devDependencies } of all) {
    t.equal(its, version, name)
    t.ok(license, `${name} has a license`)
    t.ok(engines.node, `${name} declares its Node version`)
    for (const [other, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
      t.equal(wanted, ours.get(other)?.version ?? wanted, `${name} depends on ${other}`)
  }
  t.equal(bridgeVersion, version)
  const locked = json('package-lock.json').packages
  for (const path of paths)
    t.equal(locked[path.replace(/\/?package\.json$/, '')].version, version, `${path} in the lockfile`)
  const [, newest] = /^## \[(\d[^\]]*)\]/m.exec(readFileSync(`${repository}/CHANGELOG.md`, 'utf8')) ?? []
  t.equal(newest, version, 'the newest version of the changelog')
})

verifies(
  'workshop:package:whole',
  'the server bundles every workspace package that it depends on',
  async (t) => {
    const server = ours.get('@causeway/server') as Manifest
    const made = serverManifest(server, ours)
    t.ok(made.bundleDependencies.includes('@causeway/embed'), 'including the dependencies of apps')
    t.notOk(made.bundleDependencies.includes('@causeway/bridge'), 'the bridge is a package of its own')
    const known = { ...made.dependencies, ...made.optionalDependencies }
    for (const { dependencies = {}, optionalDependencies = {} } of withDependencies(server, ours))
      for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
        t.equal(known[name], version, name)
    t.notMatch(
      JSON.stringify([made, ...all.map(bundledManifest)]),
      '@causeway/source',
      'no export refers to sources',
    )
  },
)

verifies('workshop:package:whole', 'two versions of a third-party package are rejected', async (t) => {
  const base = { version: '1.0.0', description: '', license: 'X', type: 'module', engines: {} }
  const one = { ...base, name: '@causeway/one', dependencies: { zod: '1.0.0' } }
  const server = { ...base, name: 'server', dependencies: { '@causeway/one': '1.0.0', zod: '2.0.0' } }
  t.throws(() => serverManifest(server, new Map([[one.name, one]])), {
    message: /different versions of zod: 2\.0\.0 and 1\.0\.0/,
  })
})
