import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
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

/** A server in place of GitHub, and a fetch that asks it whatever host is meant. */
async function github(t: Test, answer: (path: string, response: ServerResponse) => void) {
  const asked: string[] = []
  const server = createServer((request, response) => answer(request.url ?? '', response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const fetch: typeof globalThis.fetch = (input, options) => {
    const { href, pathname } = new URL(String(input))
    asked.push(href)
    return globalThis.fetch(`http://127.0.0.1:${port}${pathname}`, options)
  }
  return { fetch, asked }
}

const pull = 'https://github.com/a/b/pull/7'

verifies('trm:review:url', async (t) => {
  const { fetch, asked } = await github(t, (path, response) => {
    const raw = 'https://patch-diff.githubusercontent.com/raw/a/b/pull/7.diff'
    if (path === '/a/b/pull/7.diff') response.writeHead(302, { location: raw }).end()
    else response.end(diff)
  })
  const { client, critic } = await openTrm(t, { settings: { trmReviewUrl: true } })
  Object.assign(critic, { fetch })
  const { ask } = client()
  t.match(await ask('review', { url: pull, focus: ['todos'] }), {
    summary: { filesChanged: 2 },
    comments: [{ category: 'todos', line: 5 }],
    prInfo: { url: pull },
  })
  t.same(asked, [`${pull}.diff`, 'https://patch-diff.githubusercontent.com/raw/a/b/pull/7.diff'])
  await t.rejects(ask('review', { url: 'https://github.com/a/b/pull/7/../../c' }), { code: 'INVALID_URL' })
  await t.rejects(ask('review', { url: 'https://github.com/a/../pull/7' }), { code: 'INVALID_URL' })
  t.equal(asked.length, 2, 'for these nothing was fetched')
})

verifies('trm:review:url', 'what goes wrong on the way is named, and no other host is asked', async (t) => {
  const answers: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ['REVIEW_URL_FAILED', (response) => response.writeHead(404).end()],
    ['REVIEW_URL_FAILED', (response) => response.writeHead(302, { location: 'https://evil.example/' }).end()],
    ['REVIEW_URL_FAILED', (response) => response.writeHead(302, { location: '/a/b/pull/7.diff' }).end()],
    ['REVIEW_URL_FAILED', (response) => response.destroy()],
    ['FILE_TOO_LARGE', (response) => response.end(Buffer.alloc(10_000_001, '+\n'))],
    ['NOT_A_DIFF', (response) => response.end('<html>')],
  ]
  for (const [code, answer] of answers) {
    const { fetch, asked } = await github(t, (_, response) => answer(response))
    const { client, critic } = await openTrm(t, { settings: { trmReviewUrl: true } })
    Object.assign(critic, { fetch })
    await t.rejects(client().ask('review', { url: pull }), { code })
    t.ok(asked.every((url) => url.startsWith('https://github.com/')) && asked.length <= 4, String(asked))
  }
})
