import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isRight } from '../../../bench/replay/diagnosis.ts'
import { loadEngines } from '../../../fixtures/generate/generated/generated.ts'
import {
  type RandomRecording,
  randomFault,
  randomScene,
} from '../../../fixtures/generate/generated/random.ts'
import { verifies } from '../../../test/verifies.ts'
import { prepareCopy } from '../../recording/src/prepare.ts'
import { openReader } from '../../recording/src/reader.ts'
import { sweep } from '../src/analysis/sweep.ts'
import { type LawName, laws } from '../src/domain/laws/laws.ts'
import { type RankedFinding, rankFindings } from '../src/domain/laws/ranking.ts'

/** Scenes of each kind; the first seed is another one in every run, but in continuous integration, and stands in the name of the test. */
const scenes = process.env.CAUSEWAY_LONG === undefined ? 6 : 150
const anySeed = process.env.CI === undefined ? Date.now() % 1_000_000 : 20_261
const firstSeed = Number(process.env.CAUSEWAY_SEED ?? anySeed)
/** In every run: a sharp impact that leaves too slowly, and bodies that are pushed apart after an impact that should hold them. */
const telling = [2094, 2002]
const seeds = [...telling, ...Array.from({ length: scenes }, (_, i) => firstSeed + i)]

t.setTimeout(600_000)

const engines = await loadEngines()

/** Every law over a recording, in this thread; nobody needs the file again. */
async function findingsOf(t: Test, { path }: RandomRecording): Promise<readonly RankedFinding[]> {
  const file = join(t.testdir(), 'copy.db')
  copyFileSync(path, file)
  prepareCopy(file, false)
  const reader = openReader(file)
  const summary = reader.summary()
  const { findings } = await sweep(
    { range: { start: null, end: null }, laws: Object.keys(laws) as LawName[], options: {} },
    {
      summary,
      reader,
      windows: reader.windows(summary),
      signal: new AbortController().signal,
      progress() {},
    },
  )
  reader.close()
  rmSync(path)
  return rankFindings(findings)
}

for (const seed of seeds) {
  verifies(
    'replay:diagnose:random',
    `scene ${seed} has no finding of severity warning or above`,
    async (t) => {
      const findings = await findingsOf(t, await randomScene(seed, engines))
      t.same(
        findings.filter(({ severity }) => severity !== 'info'),
        [],
      )
    },
  )
  verifies('replay:diagnose:random', `scene ${seed} with one fault has it first`, async (t) => {
    const recording = await randomFault(seed, engines)
    const findings = await findingsOf(t, recording)
    t.ok(
      isRight({ fault: recording.fault, findings }),
      `${recording.about}: ${JSON.stringify(recording.fault)}`,
      {
        first: findings[0],
      },
    )
  })
}
