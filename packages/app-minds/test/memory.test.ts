import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { DailySearch } from '../src/memory/daily-search.ts'
import { type CachedMind, MemoryCache } from '../src/memory/memory-cache.ts'
import { VectorCache } from '../src/memory/vector-cache.ts'
import type { MemoryRow, RecallDataQuery } from '../src/store/types.ts'
import { type Data, decide, makeMind, type OpenMinds, openMinds } from './minds-kit.ts'

const withMessages = (speaker_id: string, ...sentences: readonly string[]) => ({
  entities: [],
  conversations: [
    {
      interaction_id: `talk_${speaker_id}_${sentences.join().length}`,
      interaction_name: 'conversation',
      participants: ['mara', speaker_id],
      conversation_history: sentences.map((message) => ({ speaker_id, speaker_name: speaker_id, message })),
    },
  ],
})
const listContents = (answer: Data): string[] => answer.memories.map(({ content }: Data) => content)
const ask = async (minds: OpenMinds, query: string, k = 5) =>
  listContents(await minds.call('recall_memories', { mind_id: 'mara', query, k }))

verifies('minds:memory:newest', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  await decide(minds, 'mara', 100, withMessages('ben', 'The bakery opens at 8.'))
  await minds.call('consolidate_memories', { mind_id: 'mara' })
  await decide(minds, 'mara', 1600, withMessages('ben', 'Actually, the bakery opens at 10.'))
  t.match(
    await ask(minds, 'When does the bakery open?'),
    [/opens at 10/, /opens at 8/],
    'finds memories before a consolidation',
  )
  await minds.call('consolidate_memories', { mind_id: 'mara' })
  const { memories } = await minds.call('recall_memories', {
    mind_id: 'mara',
    query: 'When does the bakery open?',
  })
  t.match(memories, [
    { content: /opens at 10/, superseded: false },
    { content: /opens at 8/, superseded: true },
  ])
})

verifies(
  'minds:memory:newest',
  'a fact can be corrected on the same day and in the same message',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara')
    await decide(minds, 'mara', 100, withMessages('ben', 'The bakery opens at 8.'))
    await decide(minds, 'mara', 200, withMessages('ben', 'The bakery opens at 10.'))
    await decide(
      minds,
      'mara',
      300,
      withMessages('tom', 'The mill closes at 5.', 'Sorry, the mill closes at 7.'),
    )
    for (const when of ['before a sleep', 'after it']) {
      for (const [question, now, before] of [
        ['When does the bakery open?', /at 10/, /at 8/],
        ['When does the mill close?', /at 7/, /at 5/],
      ] as const) {
        const { memories } = await minds.call('recall_memories', { mind_id: 'mara', query: question, k: 2 })
        t.match(
          memories,
          [
            { content: now, superseded: false },
            { content: before, superseded: true },
          ],
          when,
        )
      }
      await minds.call('consolidate_memories', { mind_id: 'mara' })
    }
  },
)

verifies('minds:memory:newest', 'phrases that announce a correction are recognized', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const facts = [
    ['Correction: ', 'The ferry to Lund leaves at', 'When does the ferry to Lund leave?'],
    [
      'Sorry, I was wrong. ',
      'The goat of Eberhard hides behind the',
      'Where does the goat of Eberhard hide?',
    ],
    [
      'No, ',
      'Cornelius owes the smith pennies, and they are',
      'How many pennies does Cornelius owe the smith?',
    ],
    ['I was mistaken: ', 'The council meets near the', 'Where does the council meet?'],
  ] as const
  for (const [n, [words, start]] of facts.entries()) {
    await decide(minds, 'mara', 100 + n, withMessages('ben', `${start} eighty.`))
    await decide(minds, 'mara', 200 + n, withMessages('ben', `${words}${start} ninety.`))
  }
  await minds.call('consolidate_memories', { mind_id: 'mara' })
  for (const [words, , question] of facts) t.match((await ask(minds, question, 2))[0], 'ninety', words)
})

verifies('minds:consolidation', 'equal memories are merged and recalled once', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  await decide(minds, 'mara', 100, withMessages('ben', 'The mill belongs to Tom.'))
  await minds.call('consolidate_memories', { mind_id: 'mara' })
  await decide(
    minds,
    'mara',
    1600,
    withMessages('ben', 'The mill belongs to Tom.', 'The mill belongs to Tom!'),
  )
  const before = (await minds.read('mind://mara/state')).daily_memories_count
  const again = await minds.call('consolidate_memories', { mind_id: 'mara' })
  t.equal(again.consolidated_count, before)
  t.ok(again.merged_count >= 1)
  t.equal((await ask(minds, 'Whose is the mill?')).filter((one) => one.includes('Tom')).length, 1)
})

verifies(
  'minds:memory:floor',
  'recency decides between equal memories, and importance alone does not recall a memory',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara')
    await decide(minds, 'mara', 100, withMessages('ben', 'A pony was seen at the lake.'))
    await decide(minds, 'mara', 9000, withMessages('ann', 'A pony was seen at the lake.'))
    await minds.call('consolidate_memories', { mind_id: 'mara' })
    t.match(await ask(minds, 'pony at the lake'), [/^ann/, /^ben/])
    t.same(await ask(minds, 'pneumatic tube'), [])
  },
)

verifies('minds:memory:worker', async (t) => {
  const seeds = Array.from(
    { length: 60 },
    (_, n) => `House ${n} is in ${n % 2 ? 'Oak' : 'Elm'} street; the baker lives there.`,
  )
  const questions = ['House 7 street', 'Where does the baker live?', 'Elm street']
  const answers: string[][][] = []
  for (const worker_search_from of [1000, 10]) {
    const minds = await openMinds(t, { settings: { mindsLimits: { worker_search_from } } })
    await makeMind(minds, 'mara', { initial_long_term_memories: seeds })
    await decide(minds, 'mara', 10)
    await minds.call('consolidate_memories', { mind_id: 'mara' })
    const found: string[][] = []
    for (const question of questions) found.push(await ask(minds, question))
    answers.push(found)
  }
  t.same(answers[1], answers[0])
  t.match(answers[0]?.[0]?.[0], /House 7 is/)
})

/** Starts an embedding server that counts letters: a vector space without meaning. */
async function startEmbeddings(
  t: Test,
  service: { isUp: boolean },
): Promise<{ url: string; texts: string[] }> {
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    texts.push(...input)
    const data = input.map((text: string, index: number) => ({
      index,
      embedding: [...'abcdefgh'].map((letter) => text.toLowerCase().split(letter).length),
    }))
    response.writeHead(service.isUp ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(service.isUp ? { data, model: 'letters' } : { error: 'no' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, texts }
}

verifies('minds:memory:spaces', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { initial_long_term_memories: ['The well is deep.', 'The mill is old.'] })
  const local = await ask(minds, 'old mill')
  const letters = await startEmbeddings(t, { isUp: true })
  const dir = minds.dir
  await minds.app.close()
  const settings = {
    mindsEmbeddingsUrl: letters.url,
    mindsEmbeddingsModel: 'letters',
    mindsEmbeddingsDimensions: 8,
  }
  const other = await openMinds(t, { dir, settings })
  t.match(await makeMind(other, 'mara'), {
    embedding_model_effective: 'openai letters, 8 dimensions',
    embedding_model_requested: 'all-MiniLM-L6-v2',
  })
  t.match(await ask(other, 'old mill'), ['The mill is old.'])
  t.ok(letters.texts.includes('The well is deep.'), 'all memories have vectors in the new space')
  await other.app.close()
  t.same(await ask(await openMinds(t, { dir }), 'old mill'), local, 'the old space is unchanged')
})

verifies('minds:memory:embedding-fails', async (t) => {
  const service = { isUp: true }
  const letters = await startEmbeddings(t, service)
  const settings = {
    mindsEmbeddingsUrl: letters.url,
    mindsEmbeddingsModel: 'letters',
    mindsEmbeddingsDimensions: 8,
  }
  const minds = await openMinds(t, { settings })
  await makeMind(minds, 'mara')
  service.isUp = false
  const decided = await decide(minds, 'mara', 100, withMessages('ben', 'The mill belongs to Tom.'))
  t.match(decided, { status: 'success' })
  await t.rejects(minds.call('consolidate_memories', { mind_id: 'mara' }), { code: 'EMBEDDING_ERROR' })
  const state = await minds.read('mind://mara/state')
  t.match(state, { daily_memories_count: 2, long_term_memory_count: 0 })
  const byWords = await minds.call('recall_memories', { mind_id: 'mara', query: 'mill belongs' })
  t.match(byWords, { memories: [{ content: /Tom/ }], warnings: [/by words only/] })
  service.isUp = true
  t.match(await minds.call('consolidate_memories', { mind_id: 'mara' }), {
    consolidated_count: 2,
    failed_count: 0,
  })
})

const createRow = (seq: number): MemoryRow => ({
  seq,
  id: `m${seq}`,
  content: `memory ${seq}`,
  importance: 5,
  sim_time: seq,
  location: null,
  kind: 'episodic',
  subject: null,
  tags: [],
  superseded_by: null,
})
const mind = (change: Partial<CachedMind> = {}): CachedMind => ({
  seq: 1,
  memory_rev: 1,
  daily_count: 2,
  memory_count: 9,
  ...change,
})

function createFile() {
  const requests: (RecallDataQuery | readonly number[])[] = []
  return {
    requests,
    readRecallData: async (_: unknown, wanted: RecallDataQuery) => {
      requests.push(wanted)
      return {
        postings: new Map(wanted.words.map((word) => [word, [word.length]])),
        ...(wanted.today === true ? { today: [createRow(100), createRow(101)] } : {}),
        ...(wanted.defaults === undefined
          ? {}
          : { defaults: { rows: [createRow(8), createRow(9)], lastVector: 9 } }),
      }
    },
    listBySeqs: async (seqs: readonly number[]) => {
      requests.push(seqs)
      return seqs.filter((seq) => seq < 50).map(createRow)
    },
  }
}
const question = (...words: readonly string[]) => ({
  words,
  extraCount: 2,
  embedderId: 'e',
  includesToday: true,
})

t.test('MemoryCache reads only missing memories', async (t) => {
  const file = createFile()
  const cache = new MemoryCache(file, 1e6)
  const first = await cache.readRecallData(mind(), question('bread', 'well'))
  t.equal(file.requests.length, 1)
  t.same(await cache.readRecallData(mind(), question('well')), first)
  t.equal(file.requests.length, 1)
  await cache.readRecallData(mind(), question('well', 'mill'))
  t.match(
    file.requests[1],
    { words: ['mill'], today: false, defaults: undefined },
    'reads only words that are not cached',
  )
  t.same(
    (await cache.readRows(mind(), [9, 3])).map(({ seq }) => seq),
    [9, 3],
  )
  t.same(file.requests[2], [3], 'the newest memories are cached')
  t.same(await cache.readRows(mind(), [3, 9, 60]), [createRow(3), createRow(9)], 'omits deleted memories')
})

t.test('MemoryCache reads memories again after they change or are added', async (t) => {
  const file = createFile()
  const cache = new MemoryCache(file, 1e6)
  await cache.readRecallData(mind(), question('well'))
  const full = cache.bytes()
  await cache.readRecallData(mind({ daily_count: 3 }), question('well'))
  t.match(file.requests[1], { words: [], today: true, defaults: undefined })
  await cache.readRecallData(mind({ memory_rev: 2 }), question('well'))
  t.match(file.requests[2], { words: ['well'], today: true, defaults: { extraCount: 2, embedderId: 'e' } })
  t.equal(cache.bytes(), full, 'removes the previous entry')
  await cache.readRecallData(mind({ memory_rev: 2 }), { ...question('well'), embedderId: 'other' })
  t.match(
    file.requests[3],
    { words: [], defaults: { embedderId: 'other' } },
    'reads defaults again for another vector space',
  )
})

t.test('MemoryCache does not read the memories of a mind without memories', async (t) => {
  const file = createFile()
  const cache = new MemoryCache(file, 1e6)
  const none = await cache.readRecallData(mind({ memory_count: 0, daily_count: 0 }), question('well'))
  t.same(none.today, [])
  t.same(none.defaults, { rows: [], lastVector: 0 })
  t.equal(file.requests.length, 0)
  const without = await cache.readRecallData(mind(), { ...question('well'), includesToday: false })
  t.same(without.today, [])
  t.match(file.requests, [{ today: false }])
})

t.test('MemoryCache evicts the least recently used mind first', async (t) => {
  const file = createFile()
  const one = new MemoryCache(file, 1e9)
  await one.readRecallData(mind(), question('well'))
  const cache = new MemoryCache(file, 2 * one.bytes())
  for (const seq of [1, 2, 1, 3]) await cache.readRecallData(mind({ seq }), question('well'))
  const before = file.requests.length
  await cache.readRecallData(mind({ seq: 1 }), question('well'))
  t.equal(file.requests.length, before, 'the mind that was used again is cached')
  await cache.readRecallData(mind({ seq: 2 }), question('well'))
  t.equal(file.requests.length, before + 1, 'the other mind was evicted')
  t.equal(cache.shrink(1), one.bytes())
  t.equal(cache.shrink(1e9), one.bytes())
  t.equal(cache.bytes(), 0)
})

const width = 4

/** Returns unit vectors, each along one axis. */
const makeVectors = (after: number, count: number) =>
  Array.from({ length: count - after }, (_, i) => {
    const vector = new Float32Array(width)
    vector[(after + i) % width] = 1
    return { memory_seq: after + i + 1, vec: new Uint8Array(vector.buffer) }
  })

t.test('VectorCache reads an evicted mind again', async (t) => {
  const reads: number[] = []
  const cache = new VectorCache((mindSeq, _embedder, after) => {
    reads.push(mindSeq)
    return makeVectors(after, 8)
  }, 2 ** 20)
  const ask = (mindSeq: number) =>
    cache.search({
      mindSeq,
      embedderId: 'e',
      width,
      maxMatches: 2,
      alwaysIncludedSeqs: [],
      lastSeq: 8,
      queries: [new Float32Array([1, 0, 0, 0])],
    })
  const first = ask(1)
  ask(2)
  const bytes = cache.bytes()
  t.equal(cache.shrink(1), bytes / 2, 'evicts the least recently used mind')
  t.same(ask(1), first)
  t.same(reads, [1, 2, 1])
  cache.shrink(Number.POSITIVE_INFINITY)
  t.equal(cache.bytes(), 0)
})

t.test('DailySearch recomputes evicted stems', async (t) => {
  const search = new DailySearch()
  const row = { seq: 1, kind: 'fact', content: 'the well in the valley is dry' } as never
  const question = [{ text: 'is the well dry', words: ['well', 'dry'], vector: undefined }]
  const found = search.find(question, [row], [undefined])
  const bytes = search.bytes()
  t.ok(bytes > 0)
  t.equal(search.shrink(Number.POSITIVE_INFINITY), bytes)
  t.equal(search.bytes(), 0)
  t.same(search.find(question, [row], [undefined]), found)
})
