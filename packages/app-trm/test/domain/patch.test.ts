import { createTwoFilesPatch } from 'diff'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { removeRoots } from '../../src/domain/candidate/path.ts'
import { createPreview } from '../../src/domain/preview.ts'
import { after, applied, diffed } from './candidate/apply-kit.ts'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
const twenty = `${lines(1, 20).join('\n')}\n`

verifies('trm:candidate:patch', 'a patch creates, deletes, renames and changes files', async (t) => {
  const patch = [
    'diff --git a/new.txt b/new.txt',
    'new file mode 100755',
    'index 0000000..422c2b7',
    '--- /dev/null',
    '+++ b/new.txt',
    '@@ -0,0 +1,2 @@',
    '+a',
    '+b',
    'diff --git a/gone.txt b/gone.txt',
    'deleted file mode 100644',
    '--- a/gone.txt',
    '+++ /dev/null',
    '@@ -1,2 +0,0 @@',
    '-x',
    '-y',
    'diff --git a/old name.txt b/new name.txt',
    'similarity index 80%',
    'rename from old name.txt',
    'rename to new name.txt',
    '--- a/old name.txt',
    '+++ b/new name.txt',
    '@@ -1,3 +1,3 @@',
    ' one',
    '-two',
    '+2',
    ' three',
    'diff --git a/image.png b/pictures/image.png',
    'similarity index 100%',
    'rename from image.png',
    'rename to pictures/image.png',
    '',
  ].join('\n')
  const image = Uint8Array.from([0, 1, 2])
  const files = { 'gone.txt': 'x\ny\n', 'old name.txt': 'one\ntwo\nthree\n', 'image.png': image }
  const { changes, previousPaths, executableBits } = applied(files, { mode: 'patch', patch })
  t.same(Object.fromEntries(changes), {
    'new.txt': 'a\nb\n',
    'gone.txt': null,
    'old name.txt': null,
    'new name.txt': 'one\n2\nthree\n',
    'image.png': null,
    'pictures/image.png': image,
  })
  t.same(
    [...previousPaths],
    [
      ['new name.txt', 'old name.txt'],
      ['pictures/image.png', 'image.png'],
    ],
  )
  t.same([...executableBits], [['new.txt', true]])
  t.match(createPreview({ before: new Map(Object.entries(files)), changes, previousPaths }), {
    linesAdded: 3,
    linesRemoved: 3,
    filesPreviews: [
      { file: 'new.txt', linesAdded: 2, linesRemoved: 0, changeType: 'insertion' },
      { file: 'gone.txt', linesAdded: 0, linesRemoved: 2, changeType: 'deletion' },
      { file: 'old name.txt', beforeLines: [], changeType: 'deletion' },
      { file: 'new name.txt', beforeLines: ['one', 'two', 'three'], changeType: 'modification' },
    ],
  })
})

t.test(
  'the paths in a patch can be quoted, contain spaces, lack prefixes or precede timestamps',
  async (t) => {
    const body = '@@ -1 +1 @@\n-a\n+b\n'
    const heads: [string, string][] = [
      ['--- "a/sp\\303\\251cial.txt"\n+++ "b/sp\\303\\251cial.txt"\n', 'spécial.txt'],
      ['--- a/with blank.txt\t2024-01-01\n+++ b/with blank.txt\t2024-01-02\n', 'with blank.txt'],
      ['--- src/plain.txt\n+++ src/plain.txt\n', 'src/plain.txt'],
      ['--- i/mnemonic.txt\n+++ w/mnemonic.txt\n', 'mnemonic.txt'],
      ['diff --git a/b/x.txt b/b/x.txt\n--- a/b/x.txt\n+++ b/b/x.txt\n', 'b/x.txt'],
      [
        'Index: src/svn.txt\n===================\n--- src/svn.txt\t(revision 1)\n+++ src/svn.txt\t(working copy)\n',
        'src/svn.txt',
      ],
    ]
    for (const [head, path] of heads) {
      t.same(after({ [path]: 'a\n' }, { mode: 'patch', patch: head + body }), { [path]: 'b\n' }, path)
    }
  },
)

verifies('trm:candidate:refused', 'an unsafe or invalid patch is rejected', async (t) => {
  const cases: [string, string][] = [
    ['diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n', 'BINARY_PATCH'],
    ['diff --git a/x.png b/x.png\nindex 1..2\nGIT binary patch\nliteral 3\nKcmZQzU|?hb\n', 'BINARY_PATCH'],
    [
      'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n',
      'INVALID_PATH',
    ],
    ['--- a/../up\n+++ b/../up\n@@ -1 +1 @@\n-a\n+b\n', 'INVALID_PATH'],
    ['--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n', 'INVALID_PATH'],
    ['--- a/absent\n+++ b/absent\n@@ -1 +1 @@\n-a\n+b\n', 'FILE_NOT_FOUND'],
    ['--- /dev/null\n+++ b/there.txt\n@@ -0,0 +1 @@\n+b\n', 'FILE_EXISTS'],
    ['--- a/there.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n', 'HUNK_MISMATCH'],
    [
      '--- a/there.txt\n+++ b/there.txt\n@@ -1 +1 @@\n-a\n+b\n--- a/there.txt\n+++ b/there.txt\n@@ -2 +2 @@\n-c\n+d\n',
      'DUPLICATE_PATH',
    ],
    ['nothing that is a diff', 'INVALID_DIFF'],
    ['@@ -1 +1 @@\n-a\n+b\n', 'INVALID_DIFF'],
    ['@@@ -1 -1 +1 @@@\n- a\n++b\n', 'INVALID_DIFF'],
    ['--- a/bytes.bin\n+++ b/bytes.bin\n@@ -1 +1 @@\n-a\n+b\n', 'NOT_TEXT'],
  ]
  for (const [patch, code] of cases) {
    const files = { 'there.txt': twenty, 'bytes.bin': Uint8Array.from([0]) }
    t.throws(() => applied(files, { mode: 'patch', patch }), { code }, patch)
  }
})

t.test('a diff whose headers name another file or a second file is rejected', async (t) => {
  const diff = '--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-a\n+b\n'
  const files = { 'a.txt': 'a\n', 'b.txt': 'a\n' }
  t.throws(() => applied(files, { mode: 'diff', changes: [{ path: 'a.txt', diff }] }), {
    code: 'PATH_MISMATCH',
  })
  t.same(after(files, { mode: 'diff', changes: [{ path: './b.txt', diff }] }), { 'b.txt': 'b\n' })
  t.throws(
    () =>
      applied(files, {
        mode: 'diff',
        changes: [{ path: 'b.txt', diff: diff + diff.replaceAll('b.', 'a.') }],
      }),
    {
      code: 'INVALID_DIFF',
    },
  )
})

verifies(
  'trm:candidate:refused',
  'a hunk that fits twice is placed by its header and the other hunks, or rejected',
  async (t) => {
    const block = 'begin\n  work()\nend\n'
    const text = `first\n${block}middle\n${block}last\n`
    const hunk = ' begin\n-  work()\n+  rest()\n end\n'
    t.throws(() => diffed(text, `@@\n${hunk}`), { code: 'HUNK_AMBIGUOUS', data: { lines: [2, 6], hunk: 1 } })
    t.throws(
      () => diffed(text, `@@ -3,9 +3,9 @@\n${hunk}`),
      { code: 'HUNK_AMBIGUOUS' },
      'the header is not exact',
    )
    const second = `first\n${block}middle\n${block.replace('work', 'rest')}last\n`
    t.equal(diffed(text, `@@ -6,3 +6,3 @@\n${hunk}`), second)
    t.equal(
      diffed(text, `@@\n middle\n-begin\n+begin!\n@@\n   work()\n+  more()\n end\n`),
      `first\n${block}middle\nbegin!\n  work()\n  more()\nend\nlast\n`,
    )
    t.equal(
      diffed(text, `@@ -11,2 +11,2 @@\n-first\n+1st\n begin\n@@ -16,3 +16,3 @@\n${hunk}`),
      second.replace('first', '1st'),
      'shifted as its neighbour is',
    )
  },
)

t.test('hunks that change the same lines are rejected', async (t) => {
  const hunk = '@@ -1,3 +1,3 @@\n line 1\n-line 2\n+line two\n line 3\n'
  t.throws(() => diffed(twenty, hunk + hunk), { code: 'EDIT_OVERLAP', data: { edits: [1, 2] } })
})

t.test('a diff that would lose lines is rejected', async (t) => {
  const lost = '@@ -1,4 +1,5 @@\n line 1\n-line 2\n+line two\nline 3\n+line 3.5\n line 4\n'
  t.throws(() => diffed(twenty, lost), { code: 'INVALID_DIFF', data: { line: 5 } })
  const headless = '@@ -1 +1 @@\n-line 1\n+line one\n+++ b/other.txt\n@@ -1 +1 @@\n-x\n+y\n'
  t.throws(() => diffed(twenty, headless), { code: 'INVALID_DIFF' })
  const behindHeader = '--- a/a.txt\n+++ b/a.txt\n-line 1\n+line one\n@@ -5 +5 @@\n-line 5\n+line five\n'
  t.throws(() => diffed(twenty, behindHeader), { code: 'INVALID_DIFF', data: { line: 3 } })
  const above = '-line 1\n+line one\n@@ -5 +5 @@\n-line 5\n+line five\n'
  t.throws(() => diffed(twenty, above), { code: 'INVALID_DIFF', data: { line: 2 } })
  const fence = '@@\n line 1\n-line 2\n```\n+line two\n line 3\n'
  t.throws(() => diffed(twenty, fence), { code: 'INVALID_DIFF', data: { line: 5 } })
  const header = '@@\n line 1\n-line 2\ndiff --git a/x b/x\n+line two\n line 3\n'
  t.throws(() => diffed(twenty, header), { code: 'INVALID_DIFF', data: { line: 5 } })
  const prose = 'What it does:\n- renames line 5\n\n@@ -5 +5 @@\n-line 5\n+line five\n```\n- done\n'
  t.match(diffed(twenty, prose), 'line five')
})

t.test('lines that look like headers are content if the counts include them', async (t) => {
  const sql = 'select 1\n-- old note\nselect 2\n'
  const diff = '@@ -1,3 +1,3 @@\n select 1\n--- old note\n+++ new note\n select 2\n'
  t.equal(diffed(sql, diff), 'select 1\n++ new note\nselect 2\n')
  const removed = '@@ -1,3 +1,2 @@\n select 1\n--- old note\n select 2\n'
  t.equal(diffed(sql, removed), 'select 1\nselect 2\n')
  const mail = '@@ -1,3 +1,3 @@\n select 1\n--- old note\n+-- note\n select 2\n-- \n2.39.5\n'
  t.equal(diffed(sql, mail), 'select 1\n-- note\nselect 2\n')
})

verifies('trm:candidate:format', 'a diff can add or remove the final newline', async (t) => {
  const cases: [string, string][] = [
    ['a\nb\n', 'a\nc'],
    ['a\nb', 'a\nb\n'],
    ['a\nb', 'a\nc'],
    ['a\nb', 'a\nb\nc'],
    ['a\nb\n', 'a\nb\nc'],
    ['a\nb', 'x\nb'],
    ['a\r\nb', 'a\r\nc\r\n'],
    ['', 'a\n'],
    ['a\n', ''],
  ]
  for (const [before, now] of cases) {
    const diff = createTwoFilesPatch('a.txt', 'a.txt', before, now)
    t.equal(diffed(before, diff), now, JSON.stringify([before, now]))
  }
  t.equal(diffed('a\nb', '@@\n a\n-b\n+c\n'), 'a\nc', 'without marks it stays')
})

t.test('an insertion without context lines is rejected', async (t) => {
  t.throws(() => diffed(twenty, '@@ -5,0 +6,1 @@\n+line\n'), { code: 'HUNK_AMBIGUOUS' })
})

t.test('the error about a hunk that fits nowhere contains the current lines', async (t) => {
  const diff = '@@ -3,3 +3,3 @@\n line 3\n-line vier\n+line four\n line 5\n'
  t.throws(() => diffed(twenty, diff), {
    code: 'HUNK_MISMATCH',
    data: { closest: { start_line: 3, end_line: 5, text: 'line 3\nline 4\nline 5' }, absent: ['line vier'] },
  })
})

t.test('an insertion between lines that do not match is rejected', async (t) => {
  // The line above the insertion is missing in the diff, so both neighbours cannot be right.
  t.throws(() => diffed('a\nx\nb\nc\nd\n', '@@ -1,4 +1,5 @@\n a\n+new\n b\n c\n d\n'), {
    code: 'HUNK_MISMATCH',
  })
})

t.test('context that differs from the file causes a warning', async (t) => {
  const diff = '@@ -4,5 +4,5 @@\n line 4\n line V\n-line 6\n+line six\n line 7\n line 8\n'
  const { changes, warnings } = applied(
    { 'a.txt': twenty },
    { mode: 'diff', changes: [{ path: 'a.txt', diff }] },
  )
  t.equal(changes.get('a.txt'), twenty.replace('line 6\n', 'line six\n'))
  t.match(warnings, [{ code: 'FUZZY_HUNK', path: 'a.txt', message: /^hunk 1 .* line 4 although 1 of/ }])
})

t.test('a hunk is not applied to a similar function', async (t) => {
  const rest = '    total = 0\n    for row in rows:\n        total += row.weight\n    return total\n'
  const text = `def total_weight(rows):\n${rest}`
  const diff =
    '@@ -1,5 +1,5 @@\n def total_height(rows):\n     total = 0\n     for row in rows:\n-        total += row.height\n+        total += row.height_m\n     return total\n'
  t.throws(() => diffed(text, diff), { code: 'HUNK_MISMATCH' })
})

t.test('the end of a diff does not count as a blank context line', async (t) => {
  const block =
    'class A:\n    def enter(self):\n        return self\n\n    def exit(self):\n        self.close()\n'
  const text = `${block}\n${block.replace('A', 'B')}`
  // The first context line is missing, and a blank one at the end would compensate for it.
  const short = '@@ -11,3 +11,4 @@\n     def exit(self):\n+        self.flush()\n         self.close()\n'
  t.throws(() => diffed(text, short), { code: 'HUNK_AMBIGUOUS' })
  const long =
    '@@ -9,5 +9,6 @@\n         return self\n \n     def exit(self):\n+        self.flush()\n         self.close()\n'
  t.throws(() => diffed(text, long), { code: 'INVALID_DIFF' })
})

t.test('a hunk that fits at thousands of positions is rejected', async (t) => {
  const text = 'a\nb\n'.repeat(50_000)
  t.throws(() => diffed(text, '@@\n-a\n+x\n b\n'.repeat(300)), { code: 'HUNK_AMBIGUOUS' })
  t.throws(() => diffed(text, '@@\n a\n b\n c\n a\n-b\n+x\n a\n b\n'), { code: 'HUNK_MISMATCH' })
})

/** Go, CSS, SQL and other files: text, damaged patch, and the expected text or error code. */
const damagedPatches: Readonly<Record<string, readonly [text: string, diff: string, expected: string]>> = {
  'context that names another function, removed line of its twin': [
    'func f(x int) int {\n\ta := x\n\tb := a\n\treturn 1\n}\n\nfunc g(x int) int {\n\ta := x\n\tb := a\n\treturn 10\n}\n',
    '@@ -7,5 +7,5 @@\n func g(x int) int {\n \ta := x\n \tb := a\n-\treturn 1\n+\treturn 2\n }\n',
    'HUNK_MISMATCH',
  ],
  'context that names another function, inserted line': [
    'def a(s):\n    n = s\n    m = n\n    k = m\n    return k\n\ndef b(s):\n    n = s\n    m = n\n    k = m\n    return m\n',
    '@@ -7,5 +7,6 @@\n def b(s):\n     n = s\n     m = n\n     k = m\n+    k += 1\n     return k\n',
    'HUNK_MISMATCH',
  ],
  'context with another kind of space': [
    'a\nb c\nd\ne\nf\n',
    '@@ -1,5 +1,5 @@\n a\n b\u00a0c\n-d\n+D\n e\n f\n',
    'a\nb c\nD\ne\nf\n',
  ],
  'blanks trimmed at the stated line, exact twin below': [
    'f  \n  x\nf\n  x\n',
    '@@ -1,2 +1,2 @@\n f\n-  x\n+  y\n',
    'f  \n  y\nf\n  x\n',
  ],
  'blanks trimmed without a header, exact twin below': [
    'f  \n  x\nf\n  x\n',
    '@@\n f\n-  x\n+  y\n',
    'HUNK_AMBIGUOUS',
  ],
  'repeated rules without a header': [
    '.a {\n  color: red;\n}\n.b {\n  color: red;\n}\n',
    '@@\n-  color: red;\n+  color: blue;\n }\n',
    'HUNK_AMBIGUOUS',
  ],
  'repeated rules with wrong counts': [
    '.a {\n  color: red;\n}\n.b {\n  color: red;\n}\n',
    '@@ -5,9 +5,3 @@\n-  color: red;\n+  color: blue;\n }\n',
    'HUNK_AMBIGUOUS',
  ],
  'repeated rules in reverse order': [
    '.a {\n  color: red;\n}\n.b {\n  color: red;\n}\n',
    '@@ -4,3 +4,3 @@\n .b {\n-  color: red;\n+  color: b;\n }\n@@ -2,2 +2,2 @@\n-  color: red;\n+  color: a;\n }\n',
    '.a {\n  color: a;\n}\n.b {\n  color: b;\n}\n',
  ],
  'no context, line of a repeated text off by one': [
    'x = 1\ny = 2\nx = 1\n',
    '@@ -2 +2 @@\n-x = 1\n+x = 3\n',
    'HUNK_AMBIGUOUS',
  ],
  'a repeated line without its -': ['x\ny\ny\nz\n', '@@ -1,4 +1,3 @@\n x\n y\n y\n z\n', 'INVALID_DIFF'],
  'a second hunk without its header': [
    'a\nb\nc\nd\ng\nh\n',
    '@@ -1,2 +1,2 @@\n-a\n+A\n b\n-g\n+G\n h\n',
    'HUNK_MISMATCH',
  ],
  'dots between two places': [
    'a\nb\nc\ng\nh\n',
    '@@ -1,2 +1,2 @@\n-a\n+A\n b\n...\n-g\n+G\n h\n',
    'INVALID_DIFF',
  ],
  'a hunk twice': [
    'a\nb\nc\na\nb\nc\n',
    '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
    'EDIT_OVERLAP',
  ],
  'a hunk that expects the one above': [
    'a\nb\nc\nd\n',
    '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -2,3 +2,3 @@\n B\n-c\n+C\n d\n',
    'HUNK_MISMATCH',
  ],
  'CRLF and no last line end': ['a\r\nb\r\nc', '@@ -1,3 +1,4 @@\n a\n b\n-c\n+c\n+d\n', 'a\r\nb\r\nc\r\nd'],
  'two kinds of line ends': ['a\r\nb\nc\r\n', '@@\n a\n b\n+n\n c\n', 'a\r\nb\nn\nc\r\n'],
  'SQL comments like headers, wrong counts': [
    'x\n-- a\ny\nz\n-- q\nu\n',
    '@@ -1,42 +1,7 @@\n x\n--- a\n@@ -5,42 +4,7 @@\n--- q\n+++ q\n u\n',
    'INVALID_DIFF',
  ],
}

verifies('trm:candidate:refused', 'a damaged patch is applied as intended or rejected', async (t) => {
  for (const [name, [text, diff, expected]] of Object.entries(damagedPatches)) {
    if (/^[A-Z]+_[A-Z_]+$/.test(expected)) t.throws(() => diffed(text, diff), { code: expected }, name)
    else t.equal(diffed(text, diff), expected, name)
  }
})

t.test('absolute paths are made relative only in headers', async (t) => {
  const patch = '--- /root/p/a.txt\n+++ /root/p/a.txt\n@@ -1 +1 @@\n-x\n+++ /root/p/a.txt\n'
  t.same(removeRoots({ mode: 'patch', patch }, ['/root/p']), {
    mode: 'patch',
    patch: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-x\n+++ /root/p/a.txt\n',
  })
})
