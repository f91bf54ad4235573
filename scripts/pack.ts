/**
 * Packs the server, including all workspace packages and the documentation, and the bridge. `npm run pack [-- <folder>]` writes two
 * tarballs, by default into `dist/`, and prints their paths.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPages } from '../packages/app-help/src/build/collect.ts'
import { packedPages, productSource } from '../packages/app-help/src/build/source.ts'
import { npm } from './bootstrap/install.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const target = resolve(process.argv[2] ?? join(root, 'dist'))
const print = (text: string) => `${text}\n`

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

/** Copies the `files` of a manifest, without compiler output whose source was deleted. */
function copyFiles({ name, files = [] }: Manifest, to: string): void {
  const from = workspaceFolder(name)
  const isCurrent = (path: string): boolean => {
    if (/\.map$|\.tsbuildinfo$/.test(path)) return false
    if (!/\.(js|d\.ts)$/.test(path) || !path.startsWith(join(from, 'dist'))) return true
    return existsSync(path.replace(/\.(js|d\.ts)$/, '.ts').replace(join(from, 'dist'), join(from, 'src')))
  }
  for (const entry of files.filter((one) => !one.startsWith('!')))
    cpSync(join(from, entry), join(to, entry), { recursive: true, filter: isCurrent })
}

function writeManifest(manifest: object, to: string): void {
  mkdirSync(to, { recursive: true })
  writeFileSync(join(to, 'package.json'), print(JSON.stringify(manifest, null, 2)))
}

/** Copies the product documentation that Help indexes, with its relative paths. */
async function copyPages(to: string): Promise<void> {
  const source = productSource()
  if (source === undefined) throw new Error('the checkout has no documentation')
  for (const { file_path, path } of (await findPages(source)).files) cpSync(path, join(to, file_path))
}

/** Assembles the server's files for packing. */
async function stageServer(to: string): Promise<void> {
  const server = manifests.get('@causeway/server') as Manifest
  writeManifest(serverManifest(server, manifests), to)
  copyFiles(server, to)
  cpSync(join(workspaceFolder(server.name), 'README.md'), join(to, 'README.md'))
  await copyPages(join(to, packedPages))
  for (const one of withDependencies(server, manifests).slice(1)) {
    const place = join(to, 'node_modules', one.name)
    writeManifest(bundledManifest(one), place)
    copyFiles(one, place)
  }
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

/** The fields of a package.json that packing reads. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly engines: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A package.json with bundled packages. */
interface ServerManifest extends Manifest {
  readonly bundleDependencies: readonly string[]
}

/** Returns a package and the workspace packages that it depends on, directly or indirectly. */
export function withDependencies(first: Manifest, ours: ReadonlyMap<string, Manifest>): readonly Manifest[] {
  const found = new Set([first])
  for (const { dependencies = {} } of found)
    for (const name of Object.keys(dependencies)) {
      const one = ours.get(name)
      if (one !== undefined) found.add(one)
    }
  return [...found]
}

/**
 * Returns the package.json of the published server: workspace packages are bundled, and third-party packages are dependencies of
 * the server. Throws if two packages require different versions.
 */
export function serverManifest(server: Manifest, ours: ReadonlyMap<string, Manifest>): ServerManifest {
  const [, ...inside] = withDependencies(server, ours)
  const all = [server, ...inside]
  const foreign = (kind: 'dependencies' | 'optionalDependencies') =>
    mergeVersions(all.map((one) => Object.entries(one[kind] ?? {}).filter(([name]) => !ours.has(name))))
  const { name, version, description, license, type, engines, bin = {} } = server
  const bundled = inside.map((one) => one.name).sort()
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    files: ['bin', 'dist', packedPages],
    exports: withoutSource(server.exports),
    dependencies: {
      ...Object.fromEntries(bundled.map((one) => [one, version])),
      ...foreign('dependencies'),
    },
    optionalDependencies: foreign('optionalDependencies'),
    bundleDependencies: bundled,
  }
}

/** Returns the package.json of a bundled package: the fields that Node needs to resolve its modules. */
export const bundledManifest = ({
  name,
  version,
  description,
  license,
  type,
  exports,
}: Manifest): object => ({
  name,
  version,
  description,
  license,
  type,
  private: true,
  exports: withoutSource(exports),
})

/** Removes the source condition, because sources are not published. */
const withoutSource = (exports: Manifest['exports'] = {}): NonNullable<Manifest['exports']> =>
  Object.fromEntries(
    Object.entries(exports).map(([path, conditions]) => [
      path,
      Object.fromEntries(Object.entries(conditions).filter(([name]) => name !== '@causeway/source')),
    ]),
  )

function mergeVersions(
  lists: readonly (readonly (readonly [string, string])[])[],
): Readonly<Record<string, string>> {
  const versions = new Map<string, string>()
  for (const [name, version] of lists.flat()) {
    const other = versions.get(name)
    if (other !== undefined && other !== version)
      throw new Error(`packages require different versions of ${name}: ${other} and ${version}`)
    versions.set(name, version)
  }
  return Object.fromEntries([...versions].sort(([one], [other]) => (one < other ? -1 : 1)))
}

if (process.argv[1] === import.meta.filename) {
  const staging = mkdtempSync(join(tmpdir(), 'causeway-pack-'))
  try {
    mkdirSync(target, { recursive: true })
    await stageServer(staging)
    for (const folder of [staging, workspaceFolder('@causeway/bridge')])
      process.stdout.write(print(pack(folder)))
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
