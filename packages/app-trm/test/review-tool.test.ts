import { verifies } from '../../../test/verifies.ts'
import { openTrm, replacing } from './trm-kit.ts'

const added = Array.from({ length: 201 }, (_, index) => `+value_${index} = ${index}\n`).join('')
const diff = `--- a/report.py
+++ b/report.py
@@ -1,2 +1,8 @@
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
  await t.rejects(ask('review', { url: 'https://github.com/a;touch x;/b/pull/1' }), { code: 'INVALID_URL' })
  await t.rejects(ask('review', { pr_url: 'https://github.com/a/b/pull/1' }), { code: 'REVIEW_URL_DISABLED' })
  await t.rejects(ask('review'), { code: 'INVALID_ARGUMENTS' })
})

verifies('trm:review:rules', 'all that a session has changed', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { sessionId: sid } = await ask('start', { repo: 'sums', preflight: false })
  t.match(await ask('review', { sid }), { summary: { filesChanged: 0, assessment: 'approved' } })
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
