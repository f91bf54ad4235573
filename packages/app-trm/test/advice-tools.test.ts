import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { WorkerPool } from '@causeway/worker'
import { verifies } from '../../../test/verifies.ts'
import { openTrm, replacing, unittest } from './trm-kit.ts'

verifies('trm:advice:fix', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, preflight: false })
  t.match(await ask('suggest'), { suggestions: [], message: 'No evaluations yet' })
  t.match(await ask('fix'), { suggestions: [], message: /No evaluations yet/ })
  const files = [
    {
      path: 'sums.py',
      content:
        'from statistics import fmean\n\n\ndef total(values):\n    return math.fsum(values)\n\n\ndef mean(values):\n    return fmean(values)\n',
    },
    { path: 'mathematics.py', content: '"""Nothing of use."""\n' },
    {
      path: 'test_use.py',
      content:
        'import unittest\n\n\nclass Use(unittest.TestCase):\n    def test_use(self):\n        self.assertEqual(mean([1, 3]), 2)\n',
    },
  ]
  const result = await ask('submit', { candidate: { mode: 'files', files } })
  t.equal(result.shouldHalt, false)
  t.ok(
    result.feedback.some((item: string) => /import or define 'mean'/.test(item)),
    'feedback contains the advice',
  )
  const { suggestions } = await ask('suggest')
  t.ok(suggestions.length > 0 && suggestions.length <= 5)
  t.match(suggestions[0], { category: 'tests', issue: /NameError/, autoFixable: true })
  const rounds: number[] = []
  for (let round = 0; round < 3; round++) {
    const { suggestions: fixes } = await ask('fix')
    if (fixes.length === 0) break
    const { score } = await ask('submit', { candidate: fixes[0].candidateToFix })
    rounds.push(score)
  }
  t.equal(rounds.at(-1), 1, `each repair was submitted as it was: ${rounds}`)
  t.match(await ask('fix'), { suggestions: [], message: 'No errors detected' })
})

verifies('trm:advice:unsure', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, preflight: false })
  await ask('submit', { candidate: replacing('sums.py', '+ 1', '+ 2') })
  const { suggestions, focus } = await ask('fix')
  t.same(suggestions, [])
  t.match(focus[0], { file: 'test_sums.py', line: 11 })
  t.ok(focus[0].lines.some((line: string) => line.startsWith('11: ')))
})

const added = Array.from({ length: 201 }, (_, index) => `+value_${index} = ${index}\n`).join('')
const diff = `--- a/report.py
+++ b/report.py
@@ -1,2 +1,7 @@
 import csv
+try:
+    print(1)
+except:
+    pass  # TODO later
+long = "${'x'.repeat(130)}"
 done = True
--- /dev/null
+++ b/values.py
@@ -0,0 +1,201 @@
${added}`

verifies('trm:review:rules', async (t) => {
  const { client } = await openTrm(t)
  const { ask } = client()
  const { comments, summary } = await ask('review', { diff })
  const at = (category: string) =>
    comments
      .filter((comment: { category: string }) => comment.category === category)
      .map(({ file, line }: { file: string; line: number }) => `${file}:${line}`)
  t.ok(at('logging').includes('report.py:3'), 'print')
  t.ok(at('error-handling').includes('report.py:4'), 'bare except')
  t.same(at('todos'), ['report.py:5'])
  t.ok(at('formatting').includes('report.py:6'), 'a long line')
  t.ok(
    at('size').some((place: string) => place.startsWith('values.py')),
    'many lines',
  )
  t.match(summary, { filesChanged: 2, linesAdded: 206 })
  const focused = await ask('review', { diff, focus: ['todos'] })
  t.same(
    focused.comments.map(({ category }: { category: string }) => category),
    ['todos'],
  )
  await t.rejects(ask('review', { diff: 'no diff at all' }), { code: 'NOT_A_DIFF' })
  await t.rejects(ask('review', { pr_url: 'https://github.com/a/b/pull/1' }), { code: 'REVIEW_URL_DISABLED' })
  await t.rejects(ask('review'), { code: 'INVALID_ARGUMENTS' })
})

verifies('trm:review:rules', 'a long review is queued in the worker pool under its client', async (t) => {
  const call = mock.method(WorkerPool.prototype, 'call')
  t.teardown(() => call.mock.restore())
  const { client } = await openTrm(t, {})
  await client().ask('review', { diff: `@@ -1 +1 @@\n-a\n+${'b'.repeat(3000)}\n` })
  t.match(
    call.mock.calls.map(({ arguments: [, , options] }) => options),
    [{ client: 'test' }],
  )
})

verifies('trm:review:rules', 'a review of a session covers all changes of the session', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { sessionId: sid } = await ask('start', { repo: 'sums', preflight: false })
  t.match(await ask('review', { sid }), { summary: { filesChanged: 0, assessment: 'approved' } })
  const patch = 'diff --git a/sums.py b/sums.py\nold mode 100644\nnew mode 100755\n'
  await ask('submit', { candidate: { mode: 'patch', patch } })
  t.match((await ask('review', { sid })).summary, { filesChanged: 0 }, 'a changed mode is not reviewed')
  await ask('submit', {
    candidate: replacing(
      'sums.py',
      '    return sum(values)',
      '    print(values)  # TODO\n    return sum(values)',
    ),
  })
  const { comments, summary } = await ask('review', { sid })
  t.match(summary, { filesChanged: 1, linesAdded: 1 })
  t.ok(comments.every(({ file, line }: { file: string; line: number }) => file === 'sums.py' && line === 6))
})

const long = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1} ${'x'.repeat(40)}`).join('\n')

verifies('trm:read:files', async (t) => {
  const { client, root } = await openTrm(t, {
    files: { 'p/a.txt': 'a\nb\n', 'p/long.txt': long, 'p/empty': '' },
  })
  writeFileSync(join(root, 'p', 'bytes.bin'), Buffer.from([0, 1, 255]))
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const { files } = await ask('read', { paths: ['a.txt', 'missing', 'bytes.bin', 'empty'] })
  t.match(files['a.txt'], {
    content: 'a\nb\n',
    sha: /^[0-9a-f]{64}$/,
    metadata: { lineCount: 2, sizeBytes: 4, lastModified: /^20\d\d-.*Z$/ },
  })
  t.match(files.missing, { code: 'FILE_NOT_FOUND', error: /missing/ })
  t.match(files['bytes.bin'], { content: null, isBinary: true })
  t.match(files.empty, { content: '', metadata: { lineCount: 0 } })
  const part = (await ask('read', { paths: ['a.txt'], offset: 2, limit: 1 })).files['a.txt']
  t.match(part, { content: 'b\n', metadata: { lineCount: 2 } })
  const first = (await ask('read', { paths: ['long.txt'] })).files['long.txt']
  t.match(first, { truncated: true, metadata: { lineCount: 100_000, sizeBytes: long.length } })
  t.ok(first.content.length <= 81_000)
  const next = (await ask('read', { paths: ['long.txt'], offset: first.nextOffset, limit: 1 })).files[
    'long.txt'
  ]
  t.match(next.content, new RegExp(`^line ${first.nextOffset} `))
  const many = Array.from({ length: 51 }, (_, index) => `f${index}`)
  await t.rejects(ask('read', { paths: many }), { code: 'TOO_MANY_PATHS' })
})

verifies('trm:read:files', 'files outside the project are not read', async (t) => {
  const { client, root } = await openTrm(t, { files: { 'p/a.txt': 'a', 'other/secret.txt': 'secret' } })
  symlinkSync(join(root, 'other'), join(root, 'p', 'link'))
  symlinkSync('/etc/hostname', join(root, 'p', 'name'))
  mkdirSync(join(root, 'p', '.git'))
  writeFileSync(join(root, 'p', '.git', 'config'), 'secret')
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const paths = [
    '../other/secret.txt',
    join(root, 'other/secret.txt'),
    'link/secret.txt',
    'name',
    '.git/config',
    '.GIT/config',
  ]
  const { files } = await ask('read', { paths })
  for (const path of paths) t.match(files[path], { code: 'INVALID_PATH', content: undefined }, path)
  for (const path of paths) {
    await t.rejects(ask('lines', { file: path, start: 1, end: 1 }), { code: 'INVALID_PATH' }, path)
    const candidate = { mode: 'files', files: [{ path, content: 'x' }] }
    await t.rejects(ask('submit', { candidate }), { code: 'INVALID_PATH' }, path)
  }
})

verifies('trm:lines:range', async (t) => {
  const text = Array.from({ length: 10 }, (_, index) => `row ${index + 1}`).join('\r\n')
  const { client } = await openTrm(t, { files: { 'p/a.txt': text } })
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const lines = (start: number, end: number) => ask('lines', { file: 'a.txt', start, end })
  t.match(await lines(5, 7), { file: 'a.txt', lines: ['5: row 5', '6: row 6', '7: row 7'], lineCount: 10 })
  t.same((await lines(9, 99)).lines, ['9: row 9', '10: row 10'])
  t.same((await ask('lines', { file: 'a.txt', start_line: 1, end_line: 1 })).lines, ['1: row 1'])
  await t.rejects(lines(0, 3), { code: 'INVALID_LINE' })
  await t.rejects(lines(4, 3), { code: 'INVALID_RANGE' })
  await t.rejects(lines(11, 12), { code: 'LINE_BEYOND_END', data: { line_count: 10 } })
  await t.rejects(ask('lines', { file: 'b.txt', start: 1, end: 1 }), { code: 'FILE_NOT_FOUND' })
})
