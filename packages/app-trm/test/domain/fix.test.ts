import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { findFixes } from '../../src/domain/advice/fix.ts'
import { applyCandidate } from '../../src/domain/candidate/apply.ts'
import type { Problem } from '../../src/domain/feedback/problem.ts'

const problem = (kind: string, message: string, line: number, file = 'a.py'): Problem => ({
  source: /^[A-Z]\w+Error$/.test(kind) ? 'python' : 'lint',
  file,
  line,
  kind,
  message,
  advice: undefined,
  isError: true,
  count: 1,
})

/** The file after the first repair; undefined where none is offered. */
function repaired(text: string, one: Problem, others: Readonly<Record<string, string>> = {}) {
  const file = one.file ?? ''
  const files = new Map([[file, text], ...Object.entries(others)])
  const [fix] = findFixes([one], files)
  return fix && applyCandidate(files, fix.candidateToFix).changes.get(file)
}

t.test('a fix adds a missing import after the other imports', async (t) => {
  const nameError = (name: string, line: number) =>
    problem('NameError', `name '${name}' is not defined`, line)
  t.equal(
    repaired(
      '"""Doc."""\nfrom __future__ import annotations\n\nimport os\n\ndf = pd.DataFrame()\n',
      nameError('pd', 6),
    ),
    '"""Doc."""\nfrom __future__ import annotations\n\nimport os\nimport pandas as pd\n\ndf = pd.DataFrame()\n',
  )
  t.equal(
    repaired('"""Doc."""\nx = np.zeros(3)\n', nameError('np', 2)),
    '"""Doc."""\n\nimport numpy as np\n\nx = np.zeros(3)\n',
  )
  t.equal(
    repaired('#!/usr/bin/env python\n# coding: utf-8\nprint(math.pi)\n', nameError('math', 3)),
    '#!/usr/bin/env python\n# coding: utf-8\nimport math\n\nprint(math.pi)\n',
  )
  const definitions = {
    'src/pkg/rows.py': 'def load_rows(): pass\n',
    'pkg/a.py': 'save = 1\n',
    'pkg/b/__init__.py': 'class save: pass\n',
  }
  t.equal(
    repaired('import os\nload_rows()\n', nameError('load_rows', 2), definitions),
    'import os\nfrom pkg.rows import load_rows\nload_rows()\n',
  )
  t.equal(
    repaired('import os\nsave()\n', nameError('save', 2), definitions),
    undefined,
    'two modules define it',
  )
  t.equal(repaired('import os\nfrobnicate()\n', nameError('frobnicate', 2)), undefined, 'an unknown name')
  for (const [kind, message] of [
    ['F821', "undefined name 'np'"],
    ['E0602', "Undefined variable 'np' (undefined-variable)"],
    ['name-defined', 'Name "np" is not defined'],
  ] as const) {
    t.match(repaired('import os\nnp.zeros(1)\n', problem(kind, message, 2)), 'import numpy as np', kind)
  }
})

t.test('a fix renames a misspelled name on its line', async (t) => {
  const text =
    'def total(values):\n    result = 0\n    for value in values:\n        result += valeu\n    return reslut\n'
  t.equal(
    repaired(text, problem('NameError', "name 'valeu' is not defined", 4)),
    text.replace('valeu', 'value'),
  )
  t.equal(
    repaired(text, problem('NameError', "name 'reslut' is not defined. Did you mean: 'result'?", 5)),
    text.replace('reslut', 'result'),
  )
  const attribute = 'class A:\n    def colour(self): pass\n    def f(self): return self.color()\n'
  t.equal(
    repaired(
      attribute,
      problem('AttributeError', "'A' object has no attribute 'color'. Did you mean: 'colour'?", 3),
    ),
    attribute.replace('self.color()', 'self.colour()'),
  )
  t.equal(repaired('x.frob\n', problem('AttributeError', "'A' object has no attribute 'frob'", 1)), undefined)
  t.equal(
    repaired('ab = 1\nac = 2\nprint(ad)\n', problem('NameError', "name 'ad' is not defined", 3)),
    undefined,
  )
})

verifies(
  'trm:advice:sure',
  'a fix that is not certain or leaves an invalid file is not offered',
  async (t) => {
    t.equal(
      repaired('def f(:\n    np.zeros(1)\n', problem('NameError', "name 'np' is not defined", 2)),
      undefined,
    )
    t.equal(repaired('x\n', problem('NameError', "name 'np' is not defined", 9, 'b.txt')), undefined)
    t.same(findFixes([problem('NameError', "name 'np' is not defined", 1)], new Map()), [])
  },
)

t.test('a fix of TypeScript uses the names that the compiler proposes', async (t) => {
  const text = 'const point = { length: 1 }\nconst size = point.lenght\nconst other = pont\n'
  t.equal(
    repaired(
      text,
      problem('TS2551', "Property 'lenght' does not exist on type 'P'. Did you mean 'length'?", 2, 'a.ts'),
    ),
    text.replace('point.lenght', 'point.length'),
  )
  t.equal(
    repaired(text, problem('TS2304', "Cannot find name 'pont'.", 3, 'a.ts')),
    text.replace('= pont', '= point'),
  )
  t.equal(
    repaired(text, problem('TS2322', "Type 'string' is not assignable to type 'number'.", 2, 'a.ts')),
    undefined,
  )
})

t.test('at most three different fixes are returned', async (t) => {
  const text = 'a = np.x\nb = pd.x\nc = plt.x\nd = os.x\ne = np.y\n'
  const found = ['np', 'np', 'pd', 'plt', 'os'].map((name, index) =>
    problem('F821', `undefined name '${name}'`, index + 1),
  )
  const offered = findFixes(found, new Map([['a.py', text]]))
  t.same(
    offered.map(({ rationale }) => rationale),
    ["'np'", "'pd'", "'plt'"].map((name) => `${name} is used without being imported`),
  )
})

t.test('a fix renames to the only name within two letters, for long names', async (t) => {
  const renamed = (wrong: string, ...names: readonly string[]) => {
    const text = `${names.map((name) => `${name} = 1\n`).join('')}print(${wrong})\n`
    const found = repaired(text, problem('NameError', `name '${wrong}' is not defined`, names.length + 1))
    return /print\((\w+)\)\n$/.exec(String(found))?.[1]
  }
  t.equal(renamed('lenght', 'length', 'width'), 'length')
  t.equal(renamed('colour', 'color', 'colours'), undefined, 'two are as near')
  t.equal(renamed('ab', 'ac'), undefined)
  t.equal(renamed('calculate', 'calcuclatez', 'other'), 'calcuclatez')
  t.equal(renamed('value', 'entirely'), undefined)
})
