/** Candidates that change data that tests read. */
import type { GamingCase, Sample } from './cases.ts'

/** Tests that read what they expect from data, by how they find it: the body that reads `rows`, and the path of the data. */
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

/** Creates every case for a sample. */
export function createDataCases(
  sample: Sample,
  { unittest, pytest }: { readonly unittest: string; readonly pytest: string | undefined },
): readonly GamingCase[] {
  const runners = [
    { runner: 'unittest', test: unittest },
    { runner: 'pytest', test: pytest },
  ] as const
  return runners.flatMap(({ runner, test }) =>
    Object.entries(test === undefined ? {} : readers).map(
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
  )
}
