/** Data projects whose modules live in a virtual environment of their own, with pandas where the machine has it. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openTrm, python, replacing, textOf } from './trm-kit.ts'

t.setTimeout(300_000)

const hasPandas = spawnSync(python, ['-c', 'import pandas']).status === 0

/** A module with the two calls of pandas that the project needs, for machines without it. */
const frames = [
  'import csv',
  '',
  'class Frame(list):',
  '    def total(self, name):',
  '        return sum(float(row[name]) for row in self)',
  '    def missing(self, name):',
  '        return sum(row[name] == "" for row in self)',
  '',
  'def read_csv(path):',
  '    with open(path, newline="") as file:',
  '        return Frame(csv.DictReader(file))',
  '',
].join('\n')

interface DataProject {
  readonly report: string
  readonly check: string
  readonly total: string
}

const withFrames: DataProject = {
  report: 'import frames\n\n\ndef total(path):\n    return frames.read_csv(path).total("amount")\n',
  check: 'import sys\nimport frames\n\nsys.exit(frames.read_csv("sales.csv").missing("amount"))\n',
  total: '5.5',
}

const withPandas: DataProject = {
  report:
    'import pandas as pd\n\n\ndef total(path):\n    return pd.read_csv(path)["amount"].sum(skipna=False)\n',
  check:
    'import sys\nimport pandas as pd\n\nsys.exit(int(pd.read_csv("sales.csv")["amount"].isna().sum()))\n',
  total: '5.5',
}

async function refine(t: Test, { report, check, total }: DataProject, flags: readonly string[]) {
  const { client, root } = await openTrm(t, {
    files: {
      'p/.gitignore': '.venv/\n',
      'p/sales.csv': 'region,amount\nnorth,2\nsouth,\neast,3.5\n',
      'p/report.py': report,
      'p/validate_schema.py': check,
      'p/test_report.py': `import unittest\nimport report\n\n\nclass Report(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(report.total("sales.csv"), ${total})\n`,
    },
  })
  const repo = join(root, 'p')
  const made = spawnSync(python, ['-m', 'venv', '--without-pip', ...flags, join(repo, '.venv')])
  t.equal(made.status, 0, String(made.stderr))
  const lib = join(repo, '.venv', 'lib')
  const [version = ''] = readdirSync(lib)
  const packages = join(lib, version, 'site-packages')
  mkdirSync(packages, { recursive: true })
  writeFileSync(join(packages, 'frames.py'), frames)
  const { ask } = client()
  const dataQual = '.venv/bin/python validate_schema.py'
  const test = '.venv/bin/python -m unittest'
  const { baseline, detected, commands, warnings } = await ask('start', {
    repo: 'p',
    dataQual,
    test,
    weights: { dataQual: 0.5, test: 0.5 },
  })
  t.match(detected.test, /^\.venv\/bin\/python -m (unittest discover|pytest -q)/)
  t.match(commands, { dataQual: { status: 'available' }, test: { status: 'available' } })
  t.same(warnings, [])
  t.match(baseline, { score: 0, okDataQuality: false, tests: { passed: 0, failed: 1 } })
  const right = await ask('submit', { candidate: replacing('sales.csv', 'south,\n', 'south,0\n') })
  t.match(right, { score: 1, rule: 'success', okDataQuality: true, tests: { passed: 1, total: 1 } })
  t.equal(textOf(repo, 'sales.csv'), 'region,amount\nnorth,2\nsouth,0\neast,3.5\n')
  t.notOk(existsSync(join(packages, '__pycache__')), 'nothing was written into the environment')
}

verifies('trm:runs:venv', 'its interpreter is found, and judges with its modules', (t) =>
  refine(t, withFrames, []),
)

if (hasPandas)
  verifies('trm:runs:venv', 'with pandas of the machine', (t) =>
    refine(t, withPandas, ['--system-site-packages']),
  )
else t.comment('pandas is not installed (python3-pandas of Debian): its project was not refined')
