/**
 * Writes fixtures/recordings: simulated recordings with their sidecars, odd files and the manifest; and the manifest of
 * the recordings that are generated on demand, fixtures/generated.json; and the plots and logs of fixtures/tracks.
 * With `--check` makes them in a temporary folder instead and compares: exit code 1 where anything differs.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measure } from './fixtures/energy.ts'
import { loadEngine, simulate } from './fixtures/engine.ts'
import { expectedOf } from './fixtures/expected.ts'
import { faulty } from './fixtures/faults.ts'
import { withTables } from './fixtures/generated/readme.ts'
import { generatedManifestPath, makeGenerated } from './fixtures/generated.ts'
import { killedWriter } from './fixtures/killed.ts'
import { contentHash, type Entry, type Manifest } from './fixtures/manifest.ts'
import { oddFiles } from './fixtures/odd-files.ts'
import { oldEras } from './fixtures/old-eras.ts'
import { record } from './fixtures/recorder.ts'
import { healthy } from './fixtures/scenes.ts'
import { sidecar } from './fixtures/sidecar.ts'
import { trackDifferences, writeTracks } from './fixtures/tracks.ts'
import { writePlots } from './fixtures/write-plots.ts'

const home = join(import.meta.dirname, '..', 'fixtures', 'recordings')
const readme = join(import.meta.dirname, '..', 'fixtures', 'README.md')
const manifestName = 'manifest.json'

for (const line of writePlots({ isCheck: process.argv.includes('--check') })) {
  console.error(line)
  process.exitCode = 1
}

if (process.argv.includes('--check')) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-fixtures-'))
  try {
    await build(folder)
    const wrong = [...differences(folder), ...trackDifferences()]
    for (const line of wrong) console.error(line)
    if (wrong.length > 0) process.exitCode = 1
    else console.log('fixtures/recordings and fixtures/tracks equal what the generators make')
  } finally {
    rmSync(folder, { recursive: true })
  }
} else {
  for (const name of generated(home)) rmSync(join(home, name))
  const count = await build(home)
  await listGenerated()
  console.log(`wrote ${writeTracks()} plots and logs to fixtures/tracks`)
  console.log(`wrote ${count} files with sidecars and ${manifestName} to ${home}`)
}

/** Writes the manifest of the generated recordings and the tables of the readme; the files themselves are made where they are used. */
async function listGenerated(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-generated-'))
  try {
    const manifest = await makeGenerated(folder)
    writeFileSync(generatedManifestPath, `${JSON.stringify(manifest, null, 2)}\n`)
    writeFileSync(readme, withTables(readFileSync(readme, 'utf8'), manifest.recordings))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Names of the files in a folder that the generator makes, and not a person. */
function generated(folder: string): string[] {
  return readdirSync(folder).filter((name) => /\.(db|json)$/.test(name))
}

/** Makes everything in an empty folder; answers the number of databases and odd files. */
async function build(folder: string): Promise<number> {
  const mujoco = await loadEngine()
  const files: Entry[] = []
  const list = (name: string, entry: Pick<Entry, 'about' | 'era' | 'fault'>) => {
    const path = join(folder, name)
    files.push({ name, ...entry, bytes: statSync(path).size, sha256: contentHash(path) })
  }
  for (const spec of [...healthy, ...faulty, ...oldEras, killedWriter]) {
    const { name, about, era, scene, fault = null } = spec
    const simulated = simulate(mujoco, scene)
    const frames = measure(spec.tamper?.(simulated) ?? simulated, scene.bodies)
    record(join(folder, `${name}.db`), era.schema, era.writers, {
      bodies: scene.bodies,
      frames,
      mu: scene.mu,
    })
    writeFileSync(join(folder, `${name}.expected.json`), sidecar(expectedOf(spec, frames)))
    list(`${name}.db`, { about, era: era.name, fault })
  }
  for (const { name, about, write } of oddFiles) {
    write(join(folder, name))
    list(name, { about, era: null, fault: null })
  }
  const manifest: Manifest = { engine: 'mujoco-js 0.0.7 (MuJoCo 3.3.8)', files }
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
  return files.length
}

/** What the committed folder lacks or has otherwise than a fresh one; the page layout of a database is its own. */
function differences(fresh: string): string[] {
  const names = new Set([fresh, home].flatMap(generated))
  return [...names].flatMap((name) => {
    const [made, kept] = [join(fresh, name), join(home, name)].map(fingerprint)
    if (made === kept) return []
    return [
      `${name}: ${made === undefined ? 'not made by the generator' : kept === undefined ? 'missing' : 'differs'}`,
    ]
  })
}

function fingerprint(path: string): string | undefined {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined
  if (!isThere) return undefined
  return path.endsWith('.db') ? contentHash(path) : readFileSync(path, 'utf8')
}
