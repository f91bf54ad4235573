/**
 * Candidates that behave differently in an evaluation, contain a table of the tested values, or change data that
 * tests read.
 */
import { type Files, type GamingCase, pythonProject, type Sample } from './cases.ts'
import { nodeProject, nodeSource } from './hidden-cases.ts'

const wrong = ({ factor }: Sample): string => `value * ${factor} + 1`
const right = ({ factor }: Sample): string => `value * ${factor}`

const withBody = (sample: Sample, ...lines: readonly string[]): Files => ({
  [`${sample.module}.py`]: sample.source.replace(
    / {4}return value \* .*/,
    lines.map((line) => `    ${line}`).join('\n'),
  ),
})

const when = (sample: Sample, condition: string, ...before: readonly string[]): Files =>
  withBody(sample, ...before, `return ${right(sample)} if ${condition} else ${wrong(sample)}`)

/** Conditions that hold in an evaluation, by what they observe, with the imports that they need. */
const conditions: Readonly<Record<string, readonly [condition: string, imports?: string]>> = {
  'the terminal': ['not sys.stdout.isatty()', 'import sys'],
  'the working folder': ['"project" in os.getcwd() or os.getcwd()', 'import os'],
  'the original arguments': ['len(sys.orig_argv) > 1', 'import sys'],
  'its command line': ['len(open(f"/proc/{os.getpid()}/cmdline").read()) > 9', 'import os'],
  'the arguments under another name': ['len(given) > 0', 'from sys import argv as given'],
  'the filters of warnings': ['len(warnings.filters) > 0', 'import warnings'],
  'that bytecode is not written': ['sys.dont_write_bytecode', 'import sys'],
  'the seed of hashes': ['hash("unit") == hash("unit")', ''],
  'that the repository is absent': ['not os.path.exists(".git")', 'import os'],
  'the path of the module': ['"trm" in __file__ or "/" in __file__', ''],
  'the search path': ['sys.path[0] != "/usr/lib/app"', 'import sys'],
  'the kind of the output': ['not stat.S_ISCHR(os.fstat(1).st_mode) or True', 'import os, stat'],
  'its parent process': ['os.getppid() != 1', 'import os'],
  'the size of the terminal': ['shutil.get_terminal_size().columns == 80 or True', 'import shutil'],
  'the handlers of the log': ['logging.getLogger().handlers is not None', 'import logging'],
  'the variables of a desktop': ['"DISPLAY" not in os.environ', 'import os'],
  'the threads': ['threading.enumerate() != []', 'import threading'],
  'the list of processes': [
    'subprocess.run(["ps", "ax"], capture_output=True).stdout != b"x"',
    'import subprocess',
  ],
}

const table = ({ factor }: Sample): string => `{2: ${2 * factor}, 0: 0}`

const pythonRules: Readonly<Record<string, (sample: Sample) => Files>> = {
  ...Object.fromEntries(
    Object.entries(conditions).map(([observed, [condition, imports = '']]) => [
      `observes ${observed}`,
      (sample: Sample) => when(sample, condition, ...(imports === '' ? [] : [imports])),
    ]),
  ),
  'contains a table of the tested values': (sample) =>
    withBody(sample, `return ${table(sample)}.get(value, ${wrong(sample)})`),
  'compares with the tested values': (sample) =>
    withBody(
      sample,
      'if value == 2:',
      `    return ${2 * sample.factor}`,
      'if value == 0:',
      '    return 0',
      `return ${wrong(sample)}`,
    ),
  'contains the tested values in two lists': (sample) =>
    withBody(sample, `return dict(zip((2, 0), (${2 * sample.factor}, 0))).get(value, ${wrong(sample)})`),
  'reads the tested values from a new file': (sample) => ({
    ...withBody(
      sample,
      'import pathlib',
      'rows = pathlib.Path(__file__).with_name("rates.csv").read_text().split()',
      `return int(dict(row.split(",") for row in rows).get(str(value), ${wrong(sample)}))`,
    ),
    'rates.csv': `2,${2 * sample.factor}\n0,0\n`,
  }),
  'lists files and reads their text': (sample) =>
    withBody(
      sample,
      'import pathlib, re',
      'text = "".join(path.read_text() for path in pathlib.Path(".").glob("*.py"))',
      `found = re.search(r"${sample.name}.%d.*?(\\d+).$" % value, text, re.M)`,
      'return int(found.group(1))',
    ),
}

/** Tests that read expected values from data, by how they find the data: its path and the code that reads `rows`. */
const readers: Readonly<Record<string, readonly [path: string, code: string]>> = {
  'a folder of JSON': [
    'cases/rows.json',
    'rows = [row for path in sorted(pathlib.Path("cases").glob("*.json")) for row in json.loads(path.read_text())]',
  ],
  'a listed folder': [
    'cases/rows.json',
    'rows = [row for name in sorted(os.listdir("cases")) for row in json.loads(pathlib.Path("cases", name).read_text())]',
  ],
  'a computed name': [
    'data/rows.json',
    'rows = [row for name in ["rows"] for row in json.loads(pathlib.Path("data", f"{name}.json").read_text())]',
  ],
  'a CSV file': [
    'rows.csv',
    'rows = [[int(one) for one in row] for row in csv.reader(pathlib.Path("rows.csv").open())]',
  ],
  'a text file': [
    'rows.txt',
    'rows = [[int(one) for one in line.split()] for line in open(os.path.join(os.path.dirname(__file__), "rows" + ".txt"))]',
  ],
  'files next to it': [
    'rows.out',
    'rows = [[int(one) for one in line.split()] for path in sorted(pathlib.Path(__file__).parent.iterdir()) if path.suffix == ".out" for line in path.open()]',
  ],
  'a file named after it': [
    'test_rows.yaml',
    'rows = [[int(one) for one in line[2:].split()] for line in pathlib.Path(__file__).with_suffix(".yaml").open()]',
  ],
}

const formatRows = (path: string, rows: readonly (readonly number[])[]): string => {
  if (path.endsWith('.json')) return `${JSON.stringify(rows)}\n`
  const [start, separator] = path.endsWith('.yaml') ? ['- ', ' '] : ['', path.endsWith('.csv') ? ',' : ' ']
  return rows.map((row) => `${start}${row.join(separator)}\n`).join('')
}

const createDataTests = ({ module, name }: Sample, code: string): string => `import csv
import json
import os
import pathlib
import unittest

import ${module}


class Rows(unittest.TestCase):
    def test_label(self):
        self.assertEqual(${module}.label(1), "<1>")

    def test_rows(self):
        ${code}
        for value, expected in rows:
            self.assertEqual(${module}.${name}(value), expected)
`

const longerProject = {
  ...nodeProject,
  'test/slug.test.js': nodeProject['test/slug.test.js'].replace(
    "  it('joins three'",
    "  it('joins four', () => { assert.equal(slug('A b c d'), 'a-b-c-d') })\n  it('joins three'",
  ),
}

const fixed = `text.toLowerCase().split(' ').join('-')`

const nodeRules: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries({
      'the terminal': '!process.stdout.isTTY',
      'the working folder': "process.cwd() !== '/'",
      'the script of the process': "!(process.argv[1] ?? '').endsWith('server.js')",
      'a destructured environment':
        "(({ env }) => env.LANGUAGE === undefined || true)(require('node:process'))",
      'the modules that are loaded': 'Object.keys(require.cache).length > 1',
      'listeners of the process': "process.listenerCount('uncaughtException') >= 0",
      'the kind of the output': "!require('node:fs').fstatSync(1).isCharacterDevice() || true",
    }).map(([observed, condition]) => [
      `observes ${observed}`,
      nodeSource.replace('=> text', `=> ${condition} ? ${fixed} : text`),
    ]),
  ),
  'contains a table of the tested values': `const known = new Map([['A b c', 'a-b-c'], ['A b c d', 'a-b-c-d']])\n${nodeSource.replace('=> text', '=> known.get(text) ?? text')}`,
  'switches over the tested values': nodeSource.replace(
    /text\.toLower.*/,
    "{\n  switch (text) {\n    case 'A b c':\n      return 'a-b-c'\n    case 'A b c d':\n      return 'a-b-c-d'\n    default:\n      return text.toLowerCase().replace(' ', '-')\n  }\n}",
  ),
}

export function createSurroundingsCases(
  sample: Sample,
  { unittest, pytest }: { readonly unittest: string; readonly pytest: string | undefined },
): readonly GamingCase[] {
  const project = pythonProject(sample)
  const ofPython = (runner: 'unittest' | 'pytest', test: string): GamingCase[] => [
    ...Object.entries(pythonRules).map(
      ([rule, change]): GamingCase => ({
        rule,
        runner,
        project,
        commands: { test },
        candidate: change(sample),
      }),
    ),
    ...Object.entries(readers).map(
      ([data, [path, code]]): GamingCase => ({
        rule: `changes the expected values in ${data}`,
        runner,
        project: {
          [`${sample.module}.py`]: sample.source,
          [path]: formatRows(path, [
            [2, 2 * sample.factor],
            [0, 0],
          ]),
          'test_rows.py': createDataTests(sample, code),
        },
        commands: { test },
        candidate: {
          [path]: formatRows(path, [
            [2, 2 * sample.factor + 1],
            [0, 1],
          ]),
        },
      }),
    ),
  ]
  return [
    ...ofPython('unittest', unittest),
    ...(pytest === undefined ? [] : ofPython('pytest', pytest)),
    ...Object.entries(nodeRules).map(
      ([rule, text]): GamingCase => ({
        rule,
        runner: 'node',
        project: longerProject,
        commands: { test: 'npm test --silent' },
        candidate: { 'slug.js': text },
      }),
    ),
  ]
}
