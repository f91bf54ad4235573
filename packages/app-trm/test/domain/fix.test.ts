import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { findFixes } from '../../src/domain/advice/fix.ts'
import { applyCandidate } from '../../src/domain/candidate/apply.ts'
import { alterTests } from '../../src/domain/evaluation/altered-tests.ts'
import { findHelpers } from '../../src/domain/evaluation/tamper.ts'
import type { Problem } from '../../src/domain/feedback/problem.ts'
import { createRun } from '../../src/domain/report/test-run.ts'

const passed = (...ids: readonly string[]) =>
  createRun(
    'junit',
    ids.map((id) => ({ id, status: 'pass' as const })),
  )

/** Returns the altered line of the only test, or `undefined`. */
function alterOne(path: string, text: string, id: string): string | undefined {
  const { text: changed, names } = alterTests(path, text, passed(id))
  const before = text.split('\n')
  return names.length === 0
    ? undefined
    : changed
        .split('\n')
        .find((line, at) => line !== before[at])
        ?.trim()
}

const alterPython = (...body: readonly string[]) =>
  alterOne(
    'test_a.py',
    `def test_one(self):\n${body.map((line) => `    ${line}\n`).join('')}`,
    'test_a.test_one',
  )

const alterScript = (body: string) => alterOne('a.test.js', `test('one', () => { ${body} })\n`, 'one')

verifies(
  'trm:submit:gaming',
  'alterTests alters the expected values of assertions that certainly run',
  async (t) => {
    t.equal(alterPython('assert f(1) == 3'), 'assert f(1) == 3 + 1')
    t.equal(alterPython('x = f(1)', "self.assertEqual(x, 'a')"), "self.assertEqual(x, 'a (altered)')")
    t.equal(alterPython('self.assertEqual(-2, f(1, [2, 3]))'), 'self.assertEqual(-2 + 1, f(1, [2, 3]))')
    t.equal(alterPython('with ready():', '    go()', 'assert f(1) == 3'), 'assert f(1) == 3 + 1')
    t.equal(
      alterPython('for x, y in ROWS:', '    with self.subTest(x=x):', '        self.assertEqual(f(x), y)'),
      'self.assertEqual(f(x), (y) + 1)',
    )
    t.match(alterScript("assert.equal(slug('A b'), 'a-b')"), "assert.equal(slug('A b'), 'a-b (altered)')")
    t.match(
      alterOne('a.test.js', "test('one', () => assert.equal(f(1), 3))\n", 'one'),
      'assert.equal(f(1), 3 + 1)',
    )
    t.match(alterScript('expect(f([1, 2])).toBe(3)'), 'expect(f([1, 2])).toBe(3 + 1)')
  },
)

t.test('alterTests does not alter a test whose altered assertion might not fail', async (t) => {
  for (const body of [
    ['if x:', '    assert f(1) == 3'],
    ['for x in xs:', '    assert f(x) == 3'],
    ['for x in xs:', '    with self.subTest(x=x):', '        self.assertEqual(f(x), y)'],
    ['with self.assertRaises(ValueError):', '    self.assertEqual(f(1), 3)'],
    ['for x in ROWS:', '    if x: continue', '    assert f(x) == 3'],
    ['assert f(1) == math.inf'],
    ['pytest.skip("later")', 'assert f(1) == 3'],
    ['return', 'assert f(1) == 3'],
    ['"""', 'assert f(1) == 3', '"""', 'g()'],
    ['self.assertEqual(f(1), g(), "message")'],
    ['assert f(1) == 3, "message"'],
    ['assert f(1) == 3 or x'],
    ['assert not f(1) == 3'],
    ['assert f(1) == approx(3, abs=10)'],
    ['assert f(1) >= 3'],
  ])
    t.equal(alterPython(...body), undefined, body.join(' '))
  for (const body of [
    'if (x) assert.equal(f(1), 3)',
    'return done().then(() => assert.equal(f(1), 3))',
    'x ? assert.equal(f(1), 3) : 0',
    "assert.equal(f(1), g(), 'message')",
    'assert.ok(!Object.is(f(1), 3))',
    'const same = x.equals(f(1), 3)',
    'assert.notEqual(f(1), 3)',
    'expect(f(1)).not.toBe(3)',
    'expect(f(1)).toBeCloseTo(3)',
  ])
    t.equal(alterScript(body), undefined, body)
  const text = 'def test_one(self):\n    assert f(1) == 3\n'
  for (const run of [
    passed('test_a.test_one', 'test_b.test_one'),
    passed('test_a.test_one_more'),
    createRun('junit', [{ id: 'test_a.test_one', status: 'skip' }]),
    createRun('tap', [
      { id: 'test_one', status: 'pass' },
      { id: 'test_one', status: 'pass' },
    ]),
  ])
    t.same(alterTests('test_a.py', text, run), { text, names: [] })
  const parameters = passed('test_a.py::test_one[1]', 'test_a.py::test_one[2]')
  t.same(alterTests('test_a.py', text, parameters).names, ['test_one'])
})

t.test('findHelpers returns the rules that a data check imports, but not other modules', async (t) => {
  const texts = new Map([['check.py', 'import rules\nimport load\n']])
  const changed = new Map([
    ['rules.py', 'def one(): pass\n'],
    ['load.py', 'def two(): pass\n'],
  ])
  t.same(findHelpers(texts, changed, new Set(['check.py'])), ['rules.py'])
  t.same(findHelpers(texts, changed, new Set()), [])
})

verifies(
  'trm:patterns:linear',
  'alterTests takes less than 3 s for large and hostile test files',
  async (t) => {
    const startMs = process.cpuUsage().user
    const ids = Array.from({ length: 5000 }, (_, index) => `test_a.test_${index}`)
    const tests = ids.map((id) => `def ${id.slice(7)}():\n    assert f(1) == 3\n`).join('')
    t.equal(alterTests('test_a.py', tests, passed(...ids)).names.length, 200)
    for (const [path, text] of [
      ['test_a.py', `def test_0(${')'.repeat(400_000)}\n`],
      ['test_a.py', `def test_0():\n    assert ${'='.repeat(400_000)}\n`],
      ['test_a.py', `def test_0():\n    assert ${'a '.repeat(200_000)}\n`],
      ['test_a.py', `def test_0():\n${' '.repeat(400_000)}assert f(1) == 3`],
      ['a.test.js', `test('test_0', () => {${' '.repeat(400_000)}assert.equal(f(1), 3)`],
      ['a.test.js', `test('test_0', () => {${' assert.equal('.repeat(30_000)}`],
      ['a.test.js', "test('".repeat(60_000)],
    ] as const)
      alterTests(path, text, passed('test_a.test_0', 'test_0'))
    t.ok(process.cpuUsage().user - startMs < 3_000_000, `${process.cpuUsage().user - startMs} µs`)
  },
)

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

/** Returns the file after the first repair, or `undefined` without a repair. */
function repaired(text: string, one: Problem, others: Readonly<Record<string, string>> = {}) {
  const file = one.file ?? ''
  const files = new Map([[file, text], ...Object.entries(others)])
  const [fix] = findFixes({ problems: [one], files })
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

verifies('trm:advice:sure', 'no fix is returned for an invalid, unknown or non-Python file', async (t) => {
  t.equal(
    repaired('def f(:\n    np.zeros(1)\n', problem('NameError', "name 'np' is not defined", 2)),
    undefined,
  )
  t.equal(repaired('x\n', problem('NameError', "name 'np' is not defined", 9, 'b.txt')), undefined)
  t.same(findFixes({ problems: [problem('NameError', "name 'np' is not defined", 1)], files: new Map() }), [])
})

t.test('a fix for TypeScript uses the name that the compiler proposes, or a similar name', async (t) => {
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
  const offered = findFixes({ problems: found, files: new Map([['a.py', text]]) })
  t.same(
    offered.map(({ rationale }) => rationale),
    ["'np'", "'pd'", "'plt'"].map((name) => `${name} is used without being imported`),
  )
})

t.test('a fix renames a long name to the only name that differs by at most two letters', async (t) => {
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
