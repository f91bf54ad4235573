import { spawnSync } from 'node:child_process'
import t from 'tap'
import { randomFrom } from '../../../../test/random.ts'
import { isComplete } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import { createGamingCases, createSample } from '../gaming/cases.ts'
import { createDataCases } from '../gaming/data-cases.ts'
import { createHiddenCases } from '../gaming/hidden-cases.ts'
import { createIndirectCases } from '../gaming/indirect-cases.ts'
import { openTrm, python, readText } from '../trm-kit.ts'

t.setTimeout(600_000)

const hasPytest = spawnSync(python, ['-m', 'pytest', '--version']).status === 0

const sample = createSample(randomFrom(4))

/** One case in 24, in CI every eighth, with `CAUSEWAY_LONG` all. */
const step = process.env.CAUSEWAY_LONG !== undefined ? 1 : isComplete ? 8 : 24

const runners = {
  unittest: `${python} -m unittest`,
  pytest: hasPytest ? `${python} -m pytest -q` : undefined,
}
const cases = [createGamingCases, createIndirectCases, createHiddenCases, createDataCases]
  .flatMap((create) => create(sample, runners))
  .filter((_, index) => index % step === 0)

/** One server for all cases: each has a project of its own. */
const { client, root } = await openTrm(t, {
  files: Object.fromEntries(
    [...cases.map(({ project }) => project), ...cases.slice(0, 1).map(({ project }) => project)].flatMap(
      (project, index) => Object.entries(project).map(([path, text]) => [`p${index}/${path}`, text]),
    ),
  ),
})

for (const [index, { rule, runner, project, commands, candidate }] of cases.entries())
  verifies(
    'trm:submit:gaming',
    `${runner}: a candidate that ${rule} is neither a success nor the best`,
    async (t) => {
      const { ask } = client()
      const repo = `p${index}`
      const { baseline } = await ask('start', { repo, ...commands })
      const changes = Object.entries(candidate).map(([path, content]) =>
        content === null ? { path, delete: true } : { path, content },
      )
      const result = await ask('submit', { candidate: { mode: 'files', files: changes } })
      t.not(result.rule, 'success', JSON.stringify(result.guard))
      const state = await ask('state')
      t.equal(state.bestStep, 0, JSON.stringify({ baseline: baseline.score, ...result, feedback: undefined }))
      t.equal(state.bestScore, baseline.score)
      await ask('end', { apply: 'best' })
      for (const [path, text] of Object.entries(project)) t.equal(readText(root, repo, path), text)
    },
  )

if (!hasPytest)
  t.test('candidates that game pytest', async (t) => {
    t.pass('pytest', { skip: `install pytest for ${python} (Debian package python3-pytest)` })
  })

verifies('trm:submit:gaming', 'a repair is a success and the best', async (t) => {
  const [first] = cases
  const { ask } = client()
  await ask('start', { repo: `p${cases.length}`, ...first?.commands })
  const candidate = { mode: 'files', files: [{ path: `${sample.module}.py`, content: sample.repaired }] }
  t.match(await ask('submit', { candidate }), {
    rule: 'success',
    guard: { probe: 'reported', confirms: true },
  })
  t.match(await ask('state'), { bestStep: 1, bestScore: 1 })
})
