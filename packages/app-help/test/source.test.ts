import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { findPages } from '../src/build/collect.ts'
import { ownSources, type Source } from '../src/build/source.ts'
import { library, pathsOf } from './help-kit.ts'

verifies('help:source:own', async (t) => {
  const [own, ...others] = ownSources()
  t.same(
    others.map(({ name, is_internal }) => [name, is_internal]),
    [
      ['docs_dev', true],
      ['pkg:fastify', false],
      ['pkg:undici', false],
    ],
  )
  t.match(own, { name: 'causeway', is_internal: false })
  if (own === undefined) return
  const pages = (await findPages(own)).files.map(({ file_path }) => file_path)
  const { files } = await findPages({ name: 'all', folder: own.folder, kind: 'folder', is_internal: false })
  const told = files.map(({ file_path }) => file_path)
  const wanted = told.filter((path) => /^(?:README|CHANGELOG|CONTRIBUTING)\.md$|^docs\//.test(path))
  for (const path of wanted) t.ok(pages.includes(path), path)
  for (const path of told.filter((one) =>
    /^(?:packages\/app-[a-z]+|bridge|server|examples)\/README\.md$/.test(one),
  ))
    t.ok(pages.includes(path), path)
  t.notOk(pages.some((path) => /^(?:docs_dev|fixtures|scripts|test)\/|node_modules/.test(path)))
})

verifies(
  'help:source:own',
  'a packed server has its pages in a folder of its own, and none that is internal',
  async (t) => {
    const folder = t.testdir({
      server: {
        documentation: { 'README.md': '# Causeway', docs: { 'architecture.md': '# Architecture' } },
        node_modules: { '@causeway': { 'app-help': { dist: {} } } },
      },
    })
    const [own, ...others] = ownSources(join(folder, 'server/node_modules/@causeway/app-help/dist'))
    t.match(own, { name: 'causeway', folder: join(folder, 'server/documentation') })
    t.notOk(others.some(({ is_internal }) => is_internal))
  },
)

verifies('help:source:own', 'pages that an earlier version kept under another name are gone', async (t) => {
  const help = library(t, { 'docs/old.md': '# Old\n\nwallaby' })
  await help.build()
  const own: Source = { name: 'own', folder: join(help.folder, 'docs'), kind: 'folder', is_internal: false }
  t.match(await help.build({ sources: [{ ...own, formerly: ['docs'] }] }), { added: 1, removed: 1 })
  t.same(pathsOf(await help.ask('wallaby')), ['own/old.md'])
})
