import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measure } from './fixtures/energy.ts'
import { loadEngine, simulate } from './fixtures/engine.ts'
import { faulty } from './fixtures/faults.ts'
import { contentHash, type Entry } from './fixtures/manifest.ts'
import { oldEras } from './fixtures/old-eras.ts'
import { record } from './fixtures/recorder.ts'
import { healthy } from './fixtures/scenes.ts'

const folder = process.argv[2] ?? '/tmp/fxw/out'
mkdirSync(folder, { recursive: true })
const mujoco = await loadEngine()
const entries: Entry[] = []
for (const spec of [...healthy, ...faulty, ...oldEras]) {
  const simulated = simulate(mujoco, spec.scene)
  const frames = measure(spec.tamper?.(simulated) ?? simulated, spec.scene.bodies)
  const path = join(folder, `${spec.name}.db`)
  record(path, spec.era.schema, spec.era.writers, { bodies: spec.scene.bodies, frames, mu: spec.scene.mu })
  entries.push({
    name: spec.name,
    about: spec.about,
    era: spec.era.name,
    fault: spec.fault ?? null,
    bytes: statSync(path).size,
    sha256: contentHash(path),
  })
}
writeFileSync(join(folder, 'manifest.json'), JSON.stringify(entries, null, 2))
