/** A copy of a test file with added and altered tests, which must fail (README, Protection of tests). */
import type { TestRun } from '../report/test-run.ts'
import { alterTests, hasPassed } from './altered-tests.ts'

export interface Probe {
  readonly path: string
  readonly text: string
  readonly names: readonly string[]
  readonly alteredNames: readonly string[]
}

/** Returns `undefined` for an unknown language or runner. */
export function createProbe(path: string, text: string, run: TestRun, id: string): Probe | undefined {
  const { text: altered, names } = alterTests(path, text, run)
  const added = path.endsWith('.py') ? addPythonTests(altered, id) : addScriptTests(path, altered, id)
  return added && { path, ...added, alteredNames: names }
}

type AddedTests = Pick<Probe, 'text' | 'names'>

const toNames = (id: string, kinds: readonly string[]): string[] => kinds.map((kind) => `test_${id}_${kind}`)

/** Assertions that always fail, by name. */
const pythonAssertions: Readonly<Record<string, string>> = {
  equal: 'self.assertEqual(1, 2)',
  differ: 'self.assertNotEqual(1, 1)',
  true: 'self.assertTrue(False)',
  false: 'self.assertFalse(True)',
  same: 'self.assertIs([], [])',
  none: 'self.assertIsNone(1)',
  in: 'self.assertIn(1, [])',
  near: 'self.assertAlmostEqual(1, 2)',
  greater: 'self.assertGreater(1, 2)',
  less: 'self.assertLess(2, 1)',
  list: 'self.assertListEqual([1], [2])',
  dict: 'self.assertDictEqual({1: 1}, {1: 2})',
  raises: 'with self.assertRaises(KeyError): pass',
  assert: 'assert 1 == 2',
}

const scriptAssertions: Readonly<Record<string, string>> = {
  ok: 'ok(false)',
  equal: 'equal(1, 2)',
  strict: 'strictEqual(1, 2)',
  deep: 'deepEqual([1], [2])',
  deepStrict: 'deepStrictEqual([1], [2])',
  differ: 'notStrictEqual(1, 1)',
  match: "match('a', /b/)",
  raises: 'throws(() => {})',
}

function addPythonTests(text: string, id: string): AddedTests {
  const names = toNames(id, Object.keys(pythonAssertions))
  const statements = Object.values(pythonAssertions)
  const added = [
    `import unittest as unittest_${id}`,
    '',
    '',
    `class Zz${id}(unittest_${id}.TestCase):`,
    ...names.flatMap((name, index) => [`    def ${name}(self):`, `        ${statements[index]}`, '']),
    '',
  ].join('\n')
  // Code after `unittest.main()` at the end of a script does not run.
  const mainIndex = text.search(/^if __name__\b/m)
  const [head, tail] = mainIndex < 0 ? [text, ''] : [text.slice(0, mainIndex), text.slice(mainIndex)]
  return { text: `${head}\n\n${added}\n${tail}`, names }
}

function addScriptTests(path: string, text: string, id: string): AddedTests | undefined {
  const names = toNames(id, ['plain', ...Object.keys(scriptAssertions)])
  const isModule = /\.m[jt]s$/.test(path) || /^\s*import\b[^(]*['"]/m.test(text)
  const toImport = (name: string, module: string, member: string): string => {
    const quoted = JSON.stringify(module)
    if (isModule) return `import ${member === 'default' ? name : `{ ${member} as ${name} }`} from ${quoted}`
    return `const ${name} = require(${quoted})${member === 'default' ? '' : `.${member}`}`
  }
  const [, framework] = /['"](node:test|vitest|tape|@jest\/globals)['"]/.exec(text) ?? []
  const assert = toImport(`assert_${id}`, 'node:assert', 'default')
  if (framework === 'tape') {
    const tests = names.map((name) => `test_${id}('${name}', (t) => { t.equal(1, 2, '${name}'); t.end() })`)
    return { names, text: [text, toImport(`test_${id}`, 'tape', 'default'), ...tests, ''].join('\n') }
  }
  if (framework === undefined && !/\b(?:test|it)\s*\(/.test(text)) return undefined
  const run = framework === undefined ? '(globalThis.test ?? globalThis.it)' : `test_${id}`
  return {
    names,
    text: [
      text,
      ...(framework === undefined ? [] : [toImport(`test_${id}`, framework, 'test')]),
      assert,
      `${run}('${names[0]}', () => { throw new Error('probe') })`,
      ...Object.values(scriptAssertions).map(
        (call, index) => `${run}('${names[index + 1]}', () => { assert_${id}.${call} })`,
      ),
      '',
    ].join('\n'),
  }
}

/** Whether a run reports every added test of the probe as failed, and no altered test as passed. */
export const reportsProbe = (run: TestRun | undefined, { names, alteredNames }: Probe): boolean =>
  !hasPassed(run, alteredNames) &&
  names.every((name) =>
    (run?.cases ?? []).some(
      ({ id, status }) => id.includes(name) && (status === 'fail' || status === 'error'),
    ),
  )

/** Returns the test files with passed tests, followed by all others if a passed test does not name its file. */
export function listProbeFiles(paths: readonly string[], run: TestRun): readonly string[] {
  const passedIds = run.cases.filter(({ status }) => status === 'pass').map(({ id }) => id)
  const getStem = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '')
  const matches = (path: string, id: string): boolean =>
    id.includes(path) || mentionsModule(id, getStem(path))
  const namedFiles = paths.filter((path) => passedIds.some((id) => matches(path, id)))
  return passedIds.length > 0 && passedIds.every((id) => namedFiles.some((path) => matches(path, id)))
    ? namedFiles
    : [...namedFiles, ...paths.filter((path) => !namedFiles.includes(path))]
}

/** Whether an id contains a module: `tests.test_sums.Sums::test_a` contains `test_sums`. */
const mentionsModule = (id: string, module: string): boolean =>
  `.${id}`.includes(`.${module}.`) || `.${id}`.includes(`.${module}::`) || id.includes(`/${module}.`)
