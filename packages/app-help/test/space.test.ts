import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import type { EmbeddingSettings } from '../src/embedding.ts'
import { makeQuestions } from '../src/search/questions.ts'
import { openReader } from '../src/search/reader.ts'
import { openSqliteStorage } from '../src/sqlite/sqlite-storage.ts'
import { everybody, library, pathsOf } from './help-kit.ts'

/** An endpoint that knows two directions: ships and everything else; it may be told to fail. */
async function endpoint(t: Test) {
  const state = { asked: 0, dimensions: 3, isDown: false }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { input } = JSON.parse(text) as { input: string[] }
    if (state.isDown) return void response.writeHead(400).end()
    state.asked += input.length
    const data = input.map((one, index) => {
      const embedding = new Array(state.dimensions).fill(0.01)
      embedding[/ship|vessel|boat/i.test(one) ? 0 : 1] = 1
      return { index, embedding }
    })
    response.end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const settings = (dimensions = 3): EmbeddingSettings => ({
    provider: 'openai',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    model: 'test',
    dimensions,
    requestDimensions: false,
    apiKey: 'secret',
  })
  return { state, settings }
}

const files = {
  'docs/a.md': '# Sailing\n\nA vessel leaves the harbour.',
  'docs/b.md': '# Parsing\n\nA parser reads tokens.',
  'docs/c.md': '# Cooking\n\nA pot boils water.',
}

verifies('help:space:endpoint', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, files, { embedding: settings() })
  t.match(await help.build(), { embedded: 3 })
  const found = await help.ask('where is the boat')
  t.equal(pathsOf(found)[0], 'docs/a.md', 'found by meaning, since no word is shared')
  t.match(found, { mode: 'hybrid', degraded: undefined })
  t.ok((found.results[0]?.avg_similarity ?? 0) > 0.9)
  const before = state.asked
  help.write({ 'docs/b.md': '# Parsing\n\nA lexer reads characters.' })
  t.match(await help.build(), { embedded: 1, reused: 2 }, 'only what changed is asked for')
  t.equal(state.asked, before + 1)
  t.match(await help.build({ rebuild: true }), { embedded: 0, reused: 3 }, 'and nothing is paid for twice')
})

verifies('help:space:mismatch', async (t) => {
  const { settings } = await endpoint(t)
  const help = library(t, files, { embedding: settings() })
  await help.build()
  const other = settings(1536)
  await t.rejects(help.build({ embedding: other }), {
    code: 'EMBEDDING_SPACE_MISMATCH',
    data: { stored: { dimensions: 3 }, configured: { dimensions: 1536 } },
  })
  const storage = openSqliteStorage(help.data)
  const reader = openReader(storage, other)
  t.teardown(() => reader.close())
  const request = {
    text: 'parser',
    top_n: 3,
    chunks_per_result: 1,
    mode: 'hybrid',
    scope: everybody,
    max_chars: 1000,
  } as const
  const found = await makeQuestions(storage, reader).search(request, new AbortController().signal)
  t.equal(pathsOf(found)[0], 'docs/b.md')
  t.match(found, { mode: 'lexical', degraded: { code: 'EMBEDDING_SPACE_MISMATCH', remedy: /help:rebuild/ } })
})

verifies('help:space:mismatch', 'an endpoint that changes its dimensions is refused too', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, files, { embedding: settings() })
  await help.build()
  state.dimensions = 4
  help.write({ 'docs/a.md': '# Sailing\n\nA ship.' })
  await t.rejects(help.build(), { code: 'EMBEDDING_SPACE_MISMATCH' })
  const found = await help.ask('parser')
  t.equal(pathsOf(found)[0], 'docs/b.md')
  t.match(found, { mode: 'lexical', degraded: { code: 'EMBEDDING_SPACE_MISMATCH' } })
})

verifies('help:space:away', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, files, { embedding: settings() })
  await help.build()
  state.isDown = true
  const found = await help.ask('parser')
  t.equal(pathsOf(found)[0], 'docs/b.md')
  t.match(found, { mode: 'lexical', degraded: { code: 'EMBEDDINGS_UNAVAILABLE' } })
  t.notMatch(JSON.stringify(found), /secret/)
  state.isDown = false
  const asked = state.asked
  t.match(await help.ask('parser'), { mode: 'lexical' }, 'one that was away is left alone for a while')
  t.equal(state.asked, asked)
})

t.test('build: vectors that were paid for survive a build that dies', async (t) => {
  const { state, settings } = await endpoint(t)
  const help = library(t, files, { embedding: settings() })
  const publish = help.storage.publish
  Object.assign(help.storage, { publish: () => Promise.reject(new Error('killed')) })
  await t.rejects(help.build())
  Object.assign(help.storage, { publish })
  await help.build()
  t.ok(state.asked <= 3, `${state.asked} texts for 3`)
})

t.test('search: without vectors by setting, nothing is degraded', async (t) => {
  const help = library(t, files, { embedding: { provider: 'none' } })
  await help.build()
  const found = await help.ask('parser')
  t.match(found, { mode: 'lexical', degraded: undefined })
  t.equal(found.results[0]?.avg_similarity, null)
})
