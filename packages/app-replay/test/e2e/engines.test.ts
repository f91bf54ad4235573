/** Tests of runs that the adapters of the JavaScript recorder recorded from real engines. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { samplePath } from '../../../../test/downloads/samples.mjs'
import { isComplete } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import { createCannon } from '../engines/cannon.ts'
import { createJolt } from '../engines/jolt.ts'
import { createPlanck } from '../engines/planck.ts'
import { rapier } from '../engines/rapier.ts'
import type { Engine, EngineScene } from '../engines/scene.ts'
import { openReplay, toRows } from '../replay-kit.ts'

t.setTimeout(240_000)

const planckFile = samplePath('planck', process.env)
const cannonFile = samplePath('cannon', process.env)
const joltFile = samplePath('jolt', process.env)
/** Outside CI, only Rapier. */
const engines: readonly (Engine | string)[] = isComplete
  ? [
      rapier,
      planckFile === undefined ? 'planck' : createPlanck(await import(planckFile)),
      cannonFile === undefined ? 'cannon-es' : createCannon(await import(cannonFile)),
      joltFile === undefined ? 'Jolt' : createJolt(await (await import(joltFile)).default()),
    ]
  : [rapier]

const model = { height: 3, isFixed: false, spin: 2 }

const clean: Readonly<Record<string, EngineScene>> = {
  'a box at rest': { stack: 1, steps: 300 },
  'a slide': { stack: 1, slide: 2, steps: 120 },
  'a stack of five boxes': { stack: 5, steps: 300 },
  'a drop': { drop: 3, steps: 150 },
  'a falling model with hinges': { model, steps: 40 },
  'a pendulum of two links': { model: { height: 3, isFixed: true, spin: 0 }, steps: 60 },
}

const kicked: Readonly<Record<string, EngineScene & { readonly kick: number }>> = {
  'a falling box': { drop: 6, steps: 45, kick: 30 },
  'a link of a falling model': { model, steps: 42, kick: 38 },
}

async function diagnose(t: Test, engine: Engine, scene: EngineScene) {
  const { client, folder } = await openReplay(t, [])
  engine.simulate(join(folder, 'run.mcap'), scene)
  const replay = client()
  t.match(await replay.call('load_recording', { path: 'run.mcap' }), { total_frames: scene.steps })
  return replay.call('diagnose', {})
}

for (const engine of engines) {
  if (typeof engine === 'string') {
    t.test(engine, { skip: `${engine} is not fetched: node test/downloads/samples.mjs` }, async () => {})
    continue
  }
  for (const [title, scene] of Object.entries(clean)) {
    const isSliding = engine.name === 'cannon-es' && scene.stack !== undefined
    const claim = isSliding ? 'only that friction exceeds its cone' : 'nothing'
    verifies(
      'replay:engines',
      `diagnose finds ${claim} in ${title} simulated by ${engine.name}`,
      async (t) => {
        const { findings, checked } = await diagnose(t, engine, scene)
        const causes = toRows(findings).filter(
          ({ severity, caused_by }) => severity !== 'info' && caused_by === null,
        )
        if (isSliding) t.same([...new Set(causes.map(({ kind }) => kind))], ['friction_cone'])
        else t.same(causes, [])
        const law = scene.stack === undefined ? 'finite_numbers' : engine.contactLaw
        t.ok((checked as readonly string[]).includes(law))
      },
    )
  }
  for (const [title, scene] of Object.entries(kicked))
    verifies(
      'replay:engines',
      `diagnose finds 1 % more speed in ${title} simulated by ${engine.name}`,
      async (t) => {
        const { findings } = await diagnose(t, engine, scene)
        const rows = toRows(findings)
        t.ok(rows.length > 0)
        for (const { frames } of rows) t.match(frames, { first: scene.kick, last: scene.kick })
      },
    )
}

const recorders = fileURLToPath(new URL('../../../../recorders/js/', import.meta.url))

/** Module and file to import for each adapter whose example of the README is run. */
const examples: Readonly<Record<string, readonly [module: string, file: string | undefined] | undefined>> = {
  mujoco: undefined,
  rapier: undefined,
  planck: ['planck', planckFile],
  cannon: ['cannon-es', cannonFile],
  jolt: ['jolt-physics', joltFile],
}

for (const [adapter, engine] of Object.entries(examples)) {
  if (adapter !== 'rapier' && !isComplete) continue
  const isMissing = engine !== undefined && engine[1] === undefined
  const options = isMissing ? { skip: `${adapter} is not fetched: node test/downloads/samples.mjs` } : {}
  t.test(`the README's example for ${adapter} records a run without findings`, options, async (t) => {
    const { client, folder } = await openReplay(t, [])
    const program = readExample(adapter)
      .replace(/'causeway-recorder\/(\w+)'/, (_, name) => JSON.stringify(join(recorders, `${name}.js`)))
      .replace(`'${engine?.[0]}'`, JSON.stringify(engine?.[1]))
    writeFileSync(join(folder, 'example.mjs'), program)
    execFileSync(process.execPath, ['example.mjs'], { cwd: folder })
    const [, file] = /openSync\('(\w+)\.mcap'/.exec(program) ?? []
    const { findings } = await client().call('diagnose', { recording: file })
    t.same(
      toRows(findings).filter(({ severity }) => severity !== 'info'),
      [],
    )
  })
}

function readExample(adapter: string): string {
  const blocks = readFileSync(join(recorders, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)
  const programs = [...blocks].map(([, program]) => program ?? '')
  return programs.find((program) => program.includes(`causeway-recorder/${adapter}'`)) ?? ''
}
