/**
 * Packs everything that is published, and prints the paths: the tarball of the server, which includes all workspace packages, the
 * documentation and the bridge; the tarball of the bridge; an MCP bundle, a plugin for Claude Code and a `server.json` for the MCP
 * registry. `npm run pack [-- <folder>] [--namespace <reverse domain>]` writes into `dist/` by default. The namespace is the publisher's
 * in the MCP registry.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { zipSync } from 'fflate'
import { findPages } from '../packages/app-help/src/build/collect.ts'
import { findProductSource, packedPagesFolder } from '../packages/app-help/src/build/source.ts'
import { npm } from './bootstrap/install.mjs'
import { bundleManifest, pluginFiles, registryEntry, registryName } from './pack/clients.ts'
import {
  bundledManifest,
  type Manifest,
  noticesFile,
  serverManifest,
  withDependencies,
} from './pack/manifests.ts'
import {
  type Component,
  findPackages,
  formatInstalled,
  formatNotices,
  type LockedPackages,
  listInstalled,
  readComponent,
} from './pack/notices.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { namespace: { type: 'string', default: 'com.example' } },
})
const target = resolve(positionals[0] ?? join(root, 'dist'))
const bridgeFolder = join(root, 'bridge')

/** Workspaces by name, with manifest and folder. */
const folders = new Map(
  globSync(['packages/*/package.json', 'server/package.json', 'bridge/package.json'], { cwd: root }).map(
    (path) => {
      const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
      return [manifest.name, { manifest, folder: join(root, dirname(path)) }] as const
    },
  ),
)
const manifests = new Map([...folders].map(([name, { manifest }]) => [name, manifest]))
const workspaceFolder = (name: string): string => folders.get(name)?.folder ?? ''

/** Copies the `files` of a manifest, without declarations whose source was deleted. */
function copyFiles({ name, files = [] }: Manifest, to: string): void {
  const from = workspaceFolder(name)
  const isCurrent = (path: string): boolean => {
    if (/\.map$|\.tsbuildinfo$/.test(path)) return false
    if (!/\.d\.ts$/.test(path) || !path.startsWith(join(from, 'dist'))) return true
    return existsSync(path.replace(/\.d\.ts$/, '.ts').replace(join(from, 'dist'), join(from, 'src')))
  }
  for (const entry of files.filter((one) => !one.startsWith('!')))
    cpSync(join(from, entry), join(to, entry), { recursive: true, filter: isCurrent })
}

function writeJson(value: object, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

const writeManifest = (manifest: object, folder: string): void =>
  writeJson(manifest, join(folder, 'package.json'))

/** Copies the product documentation that Help indexes, with its relative paths. */
async function copyPages(to: string): Promise<void> {
  const source = findProductSource()
  if (source === undefined) throw new Error('the checkout has no documentation')
  for (const { file_path, path } of (await findPages(source)).files) cpSync(path, join(to, file_path))
}

/** Assembles the server's files for packing. */
async function stageServer(to: string): Promise<void> {
  const server = manifests.get('causeway-mcp') as Manifest
  writeManifest(serverManifest(server, manifests), to)
  copyFiles(server, to)
  cpSync(join(workspaceFolder(server.name), 'README.md'), join(to, 'README.md'))
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
  await copyPages(join(to, packedPagesFolder))
  const packages = withDependencies(server, manifests).slice(1)
  for (const one of packages) {
    const place = join(to, 'node_modules', one.name)
    writeManifest(bundledManifest(one), place)
    copyFiles(one, place)
  }
  stageBridge(join(to, 'bridge'))
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages as LockedPackages
  const workspaces = [server, ...packages].map(({ name }) => relative(root, workspaceFolder(name)))
  const installed = listInstalled(workspaces, locked)
  const { devDependencies } = manifests.get('@causeway/console') as Manifest
  const bundled = Object.keys(devDependencies ?? {}).filter(
    (name) => name !== 'vite' && !name.startsWith('@causeway/'),
  )
  const pages = findPackages('packages/console', bundled, locked).map((path) =>
    readComponent(join(root, path)),
  )
  const bridge = readFileSync(join(bridgeFolder, 'dist', noticesFile), 'utf8')
  const notices = [bridge, formatNotices([font, wordNet, ...pages]), formatInstalled(installed)]
  writeFileSync(join(to, noticesFile), notices.join('\n'))
}

/** The font that pictures are drawn with. */
const font: Component = {
  name: 'Inter',
  version: '4',
  license: 'OFL-1.1',
  text: readFileSync(join(root, 'packages/picture/font/OFL.txt'), 'utf8').trim(),
}

/** The source of the word relations of Minds. */
const wordNet: Component = {
  name: 'WordNet',
  version: '3.0',
  license: 'WordNet',
  text: readFileSync(join(root, 'packages/app-minds/words/LICENSE'), 'utf8').trim(),
}

/** Assembles the bridge's files for packing. */
function stageBridge(to: string): void {
  const bridge = manifests.get('causeway-mcp-bridge') as Manifest
  const { devDependencies: _, ...manifest } = bridge
  writeManifest({ ...manifest, mcpName: registryName(values.namespace) }, to)
  for (const file of ['README.md', ...(bridge.files ?? [])]) cpSync(join(bridgeFolder, file), join(to, file))
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
}

/** Copies the bridge and its licenses next to the files of a client's bundle. */
function stageBundledBridge(to: string): void {
  for (const file of ['bridge.js', 'login.js']) cpSync(join(bridgeFolder, 'dist', file), join(to, file))
  cpSync(join(bridgeFolder, 'dist', noticesFile), join(to, noticesFile))
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
  // Node before 20.19 does not detect ES modules.
  writeManifest({ type: 'module' }, to)
}

/** Writes the MCP bundle, a ZIP archive, and returns its path. */
function writeBundle(folder: string, bridge: Manifest): string {
  stageBundledBridge(folder)
  writeJson(bundleManifest(bridge), join(folder, 'manifest.json'))
  const names = readdirSync(folder).sort()
  const archive = zipSync(Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))])))
  const path = join(target, `causeway-${bridge.version}.mcpb`)
  writeFileSync(path, archive)
  return path
}

/** Writes the folder of the Claude Code plugin and returns its path. */
function writePlugin(bridge: Manifest): string {
  const folder = join(target, 'claude-code-plugin')
  rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of pluginFiles(bridge)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  stageBundledBridge(folder)
  return folder
}

function writeRegistryEntry(bridge: Manifest): string {
  const path = join(target, 'server.json')
  writeJson(registryEntry(bridge, values.namespace), path)
  return path
}

function pack(folder: string): string {
  const [program = 'npm', ...first] = npm(process.env, process.execPath)
  const args = [...first, 'pack', '--json', '--ignore-scripts', '--pack-destination', target]
  const output = execFileSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [packed] = JSON.parse(output) as [{ filename: string }]
  return join(target, basename(packed.filename))
}

const staging = mkdtempSync(join(tmpdir(), 'causeway-pack-'))
try {
  mkdirSync(target, { recursive: true })
  const [server, bridge, bundle] = ['server', 'bridge', 'bundle'].map((name) => join(staging, name)) as [
    string,
    string,
    string,
  ]
  const manifest = manifests.get('causeway-mcp-bridge') as Manifest
  await stageServer(server)
  stageBridge(bridge)
  mkdirSync(bundle)
  const written = [pack(server), pack(bridge), writeBundle(bundle, manifest), writePlugin(manifest)]
  process.stdout.write(`${[...written, writeRegistryEntry(manifest)].join('\n')}\n`)
} finally {
  rmSync(staging, { recursive: true, force: true })
}
