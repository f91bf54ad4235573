import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import help from '../src/index.ts'
import type { Help } from '../src/store.ts'
import { type AppOptions, type Files, type OpenedApp, openApp } from './help-kit.ts'

const files: Files = {
  'docs/guide/hooks.md': `# Hooks\n\nA hook runs before the handler. ${'lifecycle '.repeat(30)}`,
  'docs/guide/errors.md': '# Errors\n\nAn exception becomes a response.',
  'docs/README.md': '# Readme\n\nThe overview.',
  'docs_dev/plan.md': '# Planning\n\nThe next steps.',
}

const opened = (t: Test, options: AppOptions = {}): Promise<OpenedApp> =>
  openApp(t, { pages: files, ...options })

verifies('help:source:bad', async (t) => {
  const { app, store, folder, log } = await opened(t)
  const entries = [`docs=${join(folder, 'docs')}`, 'nonsense', 'later=later', 'pkg:not-installed-anywhere']
  const settings = { helpSources: entries }
  const other = await openForTest(help, { dir: join(folder, 'other'), settings, now: Date.now })
  t.teardown(() => other.close())
  const report = await (other.store as Help).build()
  t.match(report, { added: 3, failed: [{ file: 'nonsense' }, { file: 'later=later' }, { file: /^pkg:/ }] })
  t.match((await other.client().call('find_help_topics', { text: 'hook' })).results, [{ title: 'Hooks' }])

  await store.build()
  renameSync(join(folder, 'docs'), join(folder, 'moved'))
  t.match(await store.build(), { removed: 0 }, 'its pages remain')
  t.match((await app.client().call('find_help_topics', { text: 'hook' })).results, [{ title: 'Hooks' }])
  t.match(log.join('\n'), /"file":"docs=/)
})

verifies('help:source:bad', 'if no source can be used, the reason is reported', async (t) => {
  const app = await openForTest(help, { dir: t.testdir(), settings: { helpSources: ['nonsense'] } })
  t.teardown(() => app.close())
  const message = /^no configured documentation source can be used: .*nonsense/
  await t.rejects((app.store as Help).build(), { code: 'HELP_SOURCE_INVALID', message })
})

verifies('help:sections:pages', async (t) => {
  const names = Array.from({ length: 25 }, (_, i) => `docs/${'abc'[i % 3]}/page-${i}.md`)
  const { app } = await opened(t, { pages: Object.fromEntries(names.map((name) => [name, `# ${name}`])) })
  const client = app.client()
  interface Listing {
    readonly sections: readonly { section: string; count: number; documents: { file_path: string }[] }[]
    readonly next_cursor: string | null
  }
  const list = (args: object) => client.call('list_help_sections', args) as unknown as Promise<Listing>
  const found: string[] = []
  let cursor: string | null = null
  let calls = 0
  do {
    const { sections, next_cursor }: Listing = await list({ limit: 10, ...(cursor !== null && { cursor }) })
    for (const { section, count, documents } of sections) {
      t.equal(count, section === 'A' ? 9 : 8, 'counts all documents of the section')
      found.push(...documents.map(({ file_path }) => file_path))
    }
    cursor = next_cursor
    calls++
  } while (cursor !== null)
  t.equal(calls, 3)
  t.same(found.toSorted(), names.map((name) => name.slice(5)).toSorted(), 'each document once')
  await t.rejects(list({ cursor: '4711' }), { code: 'INVALID_ARGUMENTS' })
})
