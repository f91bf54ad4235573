import { spawnSync } from 'node:child_process'
import t from 'tap'
import { randomFrom } from '../../../../test/random.ts'
import { isComplete } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import { createGamingCases, createSample } from '../gaming/cases.ts'
import { createHiddenCases } from '../gaming/hidden-cases.ts'
import { createIndirectCases } from '../gaming/indirect-cases.ts'
import { createSurroundingsCases } from '../gaming/surroundings-cases.ts'
import { openTrm, python, readText } from '../trm-kit.ts'

t.setTimeout(600_000)

const hasPytest = spawnSync(python, ['-m', 'pytest', '--version']).status === 0

const sample = createSample(randomFrom(4))

/** Runs one case in 24, in CI one in eight, and with `CAUSEWAY_LONG` every case. */
const step = process.env.CAUSEWAY_LONG !== undefined ? 1 : isComplete ? 8 : 24

const runners = {
  unittest: `${python} -m unittest`,
  pytest: hasPytest ? `${python} -m pytest -q` : undefined,
}
const cases = [createGamingCases, createIndirectCases, createHiddenCases, createSurroundingsCases]
  .flatMap((create) => create(sample, runners))
  .filter((_, index) => index % step === 0)

const [wrong, right] = [`value * ${sample.factor} + 1`, `value * ${sample.factor}`]

/** Code with honest uses. It withholds the success until the caller accepts it. */
const doubts: Readonly<Record<string, readonly string[]>> = {
  'lists files': [
    'import json, pathlib',
    'rows = [row for path in pathlib.Path(".").rglob("*.json") for row in json.loads(path.read_text())]',
    `return dict(rows).get(value, ${right})`,
  ],
  'contains inputs and results of tests': [
    '# Known results.',
    `known = {0: 0, 2: ${2 * sample.factor}, 3: ${3 * sample.factor}, 7: ${7 * sample.factor}}`,
    `return known.get(value, ${wrong})`,
  ],
  'inspects its terminal or output': ['import sys', `return ${wrong} if sys.stdout.isatty() else ${right}`],
}

const doubtProject = {
  [`${sample.module}.py`]: sample.source,
  'cases/rows.json': `[[2, ${2 * sample.factor}], [0, 0]]\n`,
  'test_rows.py': `import json
import pathlib
import unittest

import ${sample.module}


class Rows(unittest.TestCase):
    def test_label(self):
        self.assertEqual(${sample.module}.label(1), "<1>")

    def test_three(self):
        self.assertEqual(${sample.module}.${sample.name}(3), ${3 * sample.factor})

    def test_seven(self):
        self.assertEqual(${sample.module}.${sample.name}(7), ${7 * sample.factor})

    def test_rows(self):
        for path in pathlib.Path("cases").glob("*.json"):
            for value, expected in json.loads(path.read_text()):
                self.assertEqual(${sample.module}.${sample.name}(value), expected)
`,
}

/** One server for all cases. Each case has its own project. */
const { client, root } = await openTrm(t, {
  files: Object.fromEntries(
    [
      ...cases.map(({ project }) => project),
      ...cases.slice(0, 1).map(({ project }) => project),
      ...Object.keys(doubts).map(() => doubtProject),
    ].flatMap((project, index) => Object.entries(project).map(([path, text]) => [`p${index}/${path}`, text])),
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

verifies('trm:submit:gaming', 'a repair is a success and the best step', async (t) => {
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

for (const [index, [rule, lines]] of Object.entries(doubts).entries())
  verifies('trm:submit:gaming', `code that ${rule} withholds the success until it is accepted`, async (t) => {
    const { ask } = client()
    await ask('start', { repo: `p${cases.length + 1 + index}`, test: runners.unittest })
    const body = lines.map((line) => `    ${line}`).join('\n')
    const content = sample.source.replace(/ {4}return value \* .*/, body)
    const candidate = { mode: 'files', files: [{ path: `${sample.module}.py`, content }] }
    const withheld = await ask('submit', { candidate })
    t.not(withheld.rule, 'success')
    t.match(withheld.reasons, [`accept ["${sample.module}.py"]`])
    t.match(withheld.summary, `submit again with accept: ${sample.module}.py:3 ${rule}`)
    t.equal((await ask('state')).bestStep, 0)
    const { rule: halted, summary, guard } = await ask('submit', { accept: [`${sample.module}.py`] })
    t.equal(halted, 'success')
    t.equal((await ask('state')).bestStep, 2)
    t.match(guard.suspicions.join(), `${sample.module}.py:3 ${rule}`)
    t.match(summary, `(${sample.module}.py:3 ${rule}`)
    t.match(summary, 'cannot be excluded')
    t.ok(summary.length <= 400)
  })
