/**
 * Packs what is published: the server, with all of our packages and the documentation inside, and the bridge. `npm run pack [-- <folder>]`
 * writes the two tarballs, into `dist/` unless a folder is named, and prints their paths.
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

/** Every workspace by its name, with its folder. */
const folders = new Map(
  globSync(['packages/*/package.json', 'server/package.json', 'bridge/package.json'], { cwd: root }).map(
    (path) => {
      const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
      return [manifest.name, { manifest, folder: join(root, dirname(path)) }] as const
    },
  ),
)
const manifests = new Map([...folders].map(([name, { manifest }]) => [name, manifest]))
const folderOf = (name: string): string => folders.get(name)?.folder ?? ''

/** Copies what `files` of its manifest names. The compiler leaves behind what it made of sources that are gone: not that. */
function copyFiles({ name, files = [] }: Manifest, to: string): void {
  const from = folderOf(name)
  const isMade = (path: string): boolean => {
    if (/\.map$|\.tsbuildinfo$/.test(path)) return false
    if (!/\.(js|d\.ts)$/.test(path) || !path.startsWith(join(from, 'dist'))) return true
    return existsSync(path.replace(/\.(js|d\.ts)$/, '.ts').replace(join(from, 'dist'), join(from, 'src')))
  }
  for (const entry of files.filter((one) => !one.startsWith('!')))
    cpSync(join(from, entry), join(to, entry), { recursive: true, filter: isMade })
}

function writeManifest(manifest: object, to: string): void {
  mkdirSync(to, { recursive: true })
  writeFileSync(join(to, 'package.json'), print(JSON.stringify(manifest, null, 2)))
}

/** Copies the documentation of the product, which Help searches, with every page at its place. */
async function copyPages(to: string): Promise<void> {
  const source = productSource()
  if (source === undefined) throw new Error('the checkout has no documentation')
  for (const { file_path, path } of (await findPages(source)).files) cpSync(path, join(to, file_path))
}

/** Lays the server out as it is to be packed. */
async function stageServer(to: string): Promise<void> {
  const server = manifests.get('@causeway/server') as Manifest
  writeManifest(serverManifest(server, manifests), to)
  copyFiles(server, to)
  cpSync(join(folderOf(server.name), 'README.md'), join(to, 'README.md'))
  await copyPages(join(to, packedPages))
  for (const one of needed(server, manifests).slice(1)) {
    const place = join(to, 'node_modules', one.name)
    writeManifest(insideManifest(one), place)
    copyFiles(one, place)
  }
}

function pack(folder: string): string {
  const [program = 'npm', ...first] = npm(process.env, process.execPath)
  const args = [...first, 'pack', '--json', '--ignore-scripts', '--pack-destination', target]
  const told = execFileSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [packed] = JSON.parse(told) as [{ filename: string }]
  return join(target, basename(packed.filename))
}

/** The part of a package.json that packing reads. */
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

/** A package.json with packages that travel inside. */
interface ServerManifest extends Manifest {
  readonly bundleDependencies: readonly string[]
}

/** Our packages that a package needs, itself first, each once. */
export function needed(first: Manifest, ours: ReadonlyMap<string, Manifest>): readonly Manifest[] {
  const found = new Set([first])
  for (const { dependencies = {} } of found)
    for (const name of Object.keys(dependencies)) {
      const one = ours.get(name)
      if (one !== undefined) found.add(one)
    }
  return [...found]
}

/**
 * The package.json of the server as it is published: our packages travel inside, so that one name is all that a user
 * types, and everything of others is a dependency of the server itself. Throws where two want different versions.
 */
export function serverManifest(server: Manifest, ours: ReadonlyMap<string, Manifest>): ServerManifest {
  const [, ...inside] = needed(server, ours)
  const all = [server, ...inside]
  const foreign = (kind: 'dependencies' | 'optionalDependencies') =>
    united(all.map((one) => Object.entries(one[kind] ?? {}).filter(([name]) => !ours.has(name))))
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

/** The package.json of one of our packages inside the server: what Node needs to find its modules. */
export const insideManifest = ({ name, version, description, license, type, exports }: Manifest): object => ({
  name,
  version,
  description,
  license,
  type,
  private: true,
  exports: withoutSource(exports),
})

/** Sources are not shipped, so that nothing may lead to them. */
const withoutSource = (exports: Manifest['exports'] = {}): NonNullable<Manifest['exports']> =>
  Object.fromEntries(
    Object.entries(exports).map(([path, conditions]) => [
      path,
      Object.fromEntries(Object.entries(conditions).filter(([name]) => name !== '@causeway/source')),
    ]),
  )

function united(
  lists: readonly (readonly (readonly [string, string])[])[],
): Readonly<Record<string, string>> {
  const versions = new Map<string, string>()
  for (const [name, version] of lists.flat()) {
    const other = versions.get(name)
    if (other !== undefined && other !== version)
      throw new Error(`our packages want ${name} ${other} and ${version}`)
    versions.set(name, version)
  }
  return Object.fromEntries([...versions].sort(([one], [other]) => (one < other ? -1 : 1)))
}

if (process.argv[1] === import.meta.filename) {
  const staging = mkdtempSync(join(tmpdir(), 'causeway-pack-'))
  try {
    mkdirSync(target, { recursive: true })
    await stageServer(staging)
    for (const folder of [staging, folderOf('@causeway/bridge')]) process.stdout.write(print(pack(folder)))
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
