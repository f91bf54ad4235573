#!/usr/bin/env node
/**
 * Makes the golden outputs by running the real tools on the small projects next to this file:
 * `node packages/app-trm/test/golden/make.mjs <folder> [file of a golden output …]`, where the folder has node_modules of
 * tape, vitest, jest, mocha, eslint and typescript. Python tools are Debian's: python3-pytest flake8 pylint mypy. Times and
 * folders are replaced, so that a run changes only what a tool reports differently.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const [, , modules, ...wanted] = process.argv
if (modules === undefined) throw new Error('name the folder that holds node_modules')

const python = '/usr/bin/python3'
const runs = {
  'pytest.txt': ['python', `${python} -m pytest -p no:cacheprovider tests`],
  'pytest.xml': [
    'python',
    `${python} -m pytest -q -p no:cacheprovider -o junit_family=xunit1 --junitxml=report.xml tests >/dev/null; cat report.xml`,
  ],
  'pytest-none.txt': ['python', `${python} -m pytest -p no:cacheprovider -k nothing tests`],
  'pytest-collection.txt': ['python', `${python} -m pytest -p no:cacheprovider broken`],
  'pytest-collection.xml': [
    'python',
    `${python} -m pytest -q -p no:cacheprovider -o junit_family=xunit1 --junitxml=report.xml broken >/dev/null; cat report.xml`,
  ],
  'pytest-log.txt': ['python', `${python} -m pytest -p no:cacheprovider -s noisy`],
  'unittest.txt': ['python', `${python} -m unittest discover -s tests -p 'unit_*.py'`],
  'unittest-verbose.txt': ['python', `${python} -m unittest discover -v -s tests -p 'unit_*.py'`],
  'flake8.txt': ['python', 'flake8 --isolated src'],
  'pylint.txt': ['python', 'pylint --score=n src/sums.py'],
  'mypy.txt': ['python', 'mypy --cache-dir=/dev/null src'],
  'node-test.txt': ['javascript', 'node --test --test-reporter=spec node.test.js'],
  'node-test.xml': ['javascript', 'node --test --test-reporter=junit node.test.js'],
  'node-test.tap': ['javascript', 'node --test --test-reporter=tap node.test.js'],
  'tape.tap': ['javascript', 'node_modules/.bin/tape tape.test.js'],
  'vitest.txt': ['javascript', 'node_modules/.bin/vitest run vitest.spec.js'],
  'vitest.xml': [
    'javascript',
    'node_modules/.bin/vitest run vitest.spec.js --reporter=junit --outputFile=report.xml >/dev/null; cat report.xml',
  ],
  'jest.txt': ['javascript', 'node_modules/.bin/jest --rootDir=. --testMatch="**/jest.spec.cjs"'],
  'jest.json': [
    'javascript',
    'node_modules/.bin/jest --rootDir=. --testMatch="**/jest.spec.cjs" --json 2>/dev/null',
  ],
  'mocha.txt': ['javascript', 'node_modules/.bin/mocha mocha.cjs'],
  'mocha.json': ['javascript', 'node_modules/.bin/mocha --reporter json mocha.cjs'],
  'eslint.txt': ['javascript', 'node_modules/.bin/eslint lint.js'],
  'tsc.txt': ['javascript', 'node_modules/.bin/tsc --noEmit --strict --pretty false types.ts'],
  'tsc-pretty.txt': ['javascript', 'node_modules/.bin/tsc --noEmit --strict --pretty true types.ts'],
}

const work = mkdtempSync(join(tmpdir(), 'golden-'))
try {
  for (const name of ['python', 'javascript'])
    cpSync(join(here, 'projects', name), join(work, name), { recursive: true })
  if (!existsSync(join(modules, 'node_modules'))) throw new Error(`no node_modules in ${modules}`)
  symlinkSync(join(modules, 'node_modules'), join(work, 'javascript', 'node_modules'))
  const env = {
    ...process.env,
    NO_COLOR: '1',
    CI: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    TERM: 'dumb',
    FORCE_COLOR: undefined,
  }
  for (const [file, [folder, command]] of Object.entries(runs)) {
    if (wanted.length > 0 && !wanted.includes(file)) continue
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', command], {
      cwd: join(work, folder),
      env,
      encoding: 'utf8',
    })
    const text = even(`${stdout}${/\.(xml|json|tap)$/.test(file) ? '' : stderr}`)
    writeFileSync(join(here, file), text)
    console.log(`${file}: exit ${status}, ${text.length} characters`)
  }
} finally {
  rmSync(work, { recursive: true })
}

/** Replaces times, folders and the host name with fixed values. */
function even(text) {
  return text
    .replaceAll(work, '/work')
    .replaceAll(readFileSync('/etc/hostname', 'utf8').trim(), 'host')
    .replaceAll(/timestamp="[^"]*"/g, 'timestamp="2026-01-01T00:00:00"')
    .replaceAll(/("timestamp": ")[^"]*/g, (_, before) => `${before}2026-01-01T00:00:00`)
    .replaceAll(/^( {2}Start at {2}).*$/gm, (_, before) => `${before}00:00:00`)
}
