import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { readNotebook } from '../../src/domain/candidate/notebook.ts'
import type { Candidate, Edit } from '../../src/domain/candidate/types.ts'
import { applied } from './candidate/apply-kit.ts'

/** A notebook as Jupyter writes it: sorted keys, an indentation of one space, and a newline at the end. */
const jupyter = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro-1",
   "metadata": {},
   "source": [
    "# Title\\n",
    "Größe"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "load",
   "metadata": {"tags": ["keep"]},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "x\\n"
     ]
    }
   ],
   "source": [
    "import pandas as pd\\n",
    "df = pd.read_csv('a.csv')\\n",
    "df.head()"
   ]
  }
 ],
 "metadata": {
  "kernelspec": {
   "display_name": "Python 3",
   "language": "python",
   "name": "python3"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

const edit = (text: string, ...edits: readonly Edit[]) => {
  const candidate: Candidate = { mode: 'modify', changes: [{ path: 'n.ipynb', edits }] }
  const { changes, warnings } = applied({ 'n.ipynb': text }, candidate)
  return { text: String(changes.get('n.ipynb') ?? text), warnings }
}

verifies(
  'trm:candidate:notebook',
  'an edit of a notebook cell changes only the lines of its source',
  async (t) => {
    const edits: Edit[] = [
      { type: 'replace', cell: 'load', oldText: "'a.csv'", newText: "'b.csv'" },
      { type: 'insertAfter', cell: 1, line: 2, content: 'print("é")' },
    ]
    const { text } = edit(jupyter, ...edits)
    const expected = jupyter.replace(
      `    "df = pd.read_csv('a.csv')\\n",\n`,
      `    "df = pd.read_csv('b.csv')\\n",\n    "print(\\"é\\")\\n",\n`,
    )
    t.equal(text, expected)
  },
)

t.test('notebook cells are inserted, replaced and deleted in the format of the file', async (t) => {
  const { text } = edit(
    jupyter,
    { type: 'insertCell', cell: 1, kind: 'code', content: 'x = 1\ny = 2\n' },
    { type: 'insertCell', cell: 2, kind: 'markdown', content: 'The end' },
    { type: 'deleteCell', cell: 'intro-1' },
    { type: 'replaceCell', cell: 'load', content: '' },
  )
  const { cells } = readNotebook('n.ipynb', text)
  t.match(cells, [
    { kind: 'code', source: 'x = 1\ny = 2', id: /^[0-9a-f]{8}$/ },
    { kind: 'code', source: '', id: 'load' },
    { kind: 'markdown', source: 'The end', id: /^[0-9a-f]{8}$/ },
  ])
  t.equal(
    `${JSON.stringify(JSON.parse(text), undefined, 1)}\n`,
    text.replace('{"tags": ["keep"]}', '{\n    "tags": [\n     "keep"\n    ]\n   }'),
  )
})

verifies(
  'trm:candidate:notebook',
  'an edited notebook retains its format, such as indentation and key order',
  async (t) => {
    const data = JSON.parse(jupyter)
    const forms: [string, string][] = [
      ['four blanks', JSON.stringify(data, undefined, 4)],
      ['tabs', JSON.stringify(data, undefined, '\t')],
      ['one line', JSON.stringify(data)],
      ['CRLF', jupyter.replaceAll('\n', '\r\n')],
      ['a byte order mark', `\ufeff${jupyter}`],
      [
        'escapes',
        jupyter.replace(/[äöüß]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
      ],
      [
        'names in reverse',
        jupyter.replace(' "metadata": {\n  "kernelspec"', ' "zzz": 1,\n "metadata": {\n  "kernelspec"'),
      ],
    ]
    for (const [name, text] of forms) {
      const there = edit(text, { type: 'replaceLine', cell: 0, line: 1, content: '# Titel ü' }).text
      t.not(there, text, name)
      t.equal(
        edit(there, { type: 'replaceLine', cell: 0, line: 1, content: '# Title' }).text,
        text,
        `${name}: and back`,
      )
      const longer = edit(text, { type: 'insertCell', cell: 0, kind: 'raw', content: 'a\nb' }).text
      t.equal(edit(longer, { type: 'deleteCell', cell: 0 }).text, text, `${name}: inserted and removed`)
    }
    t.match(
      edit(forms[5]?.[1] ?? '', { type: 'insertAfter', cell: 0, line: 1, content: 'ü' }).text,
      '"\\u00fc\\n"',
    )
  },
)

t.test('a string source of a notebook cell remains a string', async (t) => {
  const old =
    '{"cells": [{"cell_type": "code", "source": "a = 1\\nb = 2", "outputs": [], "metadata": {}}], "nbformat": 4, "nbformat_minor": 2}'
  const { text } = edit(old, { type: 'replaceLine', cell: 0, line: 2, content: 'b = 3' })
  t.equal(text, old.replace('b = 2', 'b = 3'))
  t.notMatch(
    edit(old, { type: 'insertCell', cell: 1, kind: 'code', content: 'c' }).text,
    '"id"',
    'no ids before 4.5',
  )
})

t.test('all cells of a notebook can be deleted, and a first cell can be inserted', async (t) => {
  const { text } = edit(jupyter, { type: 'deleteCell', cell: 0 }, { type: 'deleteCell', cell: 1 })
  t.same(readNotebook('n.ipynb', text).cells, [])
  const again = edit(text, { type: 'insertCell', cell: 0, kind: 'code', content: 'x = 1' }).text
  t.match(readNotebook('n.ipynb', again).cells, [{ source: 'x = 1' }])
})

t.test('the warning about an invalid code cell names the cell, and IPython syntax is accepted', async (t) => {
  const fine = '%matplotlib inline\nfiles = !ls\n!pip list\ndf?\nx = 1'
  t.same(edit(jupyter, { type: 'replaceCell', cell: 'load', content: '%%bash\nls | wc' }).warnings, [])
  t.same(edit(jupyter, { type: 'replaceCell', cell: 'load', content: fine }).warnings, [])
  t.match(edit(jupyter, { type: 'replaceCell', cell: 'load', content: `${fine}\ndef f(:` }).warnings, [
    { code: 'SYNTAX', message: /^line 6 .*in cell 1/ },
  ])
})

t.test('invalid notebooks, missing cells and invalid edits are rejected', async (t) => {
  const cases: [string, Edit[], string][] = [
    [jupyter, [{ type: 'deleteLine', line: 1 }], 'INVALID_EDIT'],
    [jupyter, [{ type: 'deleteCell', cell: 2 }], 'CELL_NOT_FOUND'],
    [jupyter, [{ type: 'deleteCell', cell: 'lod' }], 'CELL_NOT_FOUND'],
    [jupyter, [{ type: 'insertCell', cell: 3, kind: 'code', content: '' }], 'CELL_NOT_FOUND'],
    [
      jupyter,
      [
        { type: 'deleteCell', cell: 1 },
        { type: 'deleteLine', cell: 1, line: 1 },
      ],
      'INVALID_EDIT',
    ],
    [
      jupyter,
      [
        { type: 'deleteLine', cell: 1, line: 1 },
        { type: 'replaceCell', cell: 1, content: '' },
      ],
      'INVALID_EDIT',
    ],
    [jupyter, [{ type: 'deleteLine', cell: 1, line: 4 }], 'INVALID_LINE'],
    ['{', [{ type: 'deleteCell', cell: 0 }], 'INVALID_NOTEBOOK'],
    ['[]', [{ type: 'deleteCell', cell: 0 }], 'INVALID_NOTEBOOK'],
    ['{"nbformat": 3, "worksheets": []}', [{ type: 'deleteCell', cell: 0 }], 'INVALID_NOTEBOOK'],
    [
      '{"nbformat": 4, "cells": [{"cell_type": "code"}]}',
      [{ type: 'deleteCell', cell: 0 }],
      'INVALID_NOTEBOOK',
    ],
  ]
  for (const [text, edits, code] of cases) t.throws(() => edit(text, ...edits), { code }, code)
  const files: Candidate = { mode: 'files', files: [{ path: 'n.ipynb', content: 'print()' }] }
  t.throws(() => applied({ 'n.ipynb': jupyter }, files), { code: 'INVALID_NOTEBOOK' })
  const broken: Candidate = {
    mode: 'diff',
    changes: [{ path: 'n.ipynb', diff: '@@\n-{\n+[\n  "cells": [\n' }],
  }
  t.throws(() => applied({ 'n.ipynb': jupyter }, broken), { code: 'INVALID_NOTEBOOK' })
})
