/** Measures Minds over HTTP: decisions by policy and by a scripted model, many minds, large minds, consolidation, restart. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '@causeway/store'
import { Pool } from 'undici'
import { limitsSchema } from '../../packages/app-minds/src/limits.ts'
import { packVector } from '../../packages/app-minds/src/memory/embedding.ts'
import { openEmbedding } from '../../packages/app-minds/src/memory/open-embedding.ts'
import { createMind } from '../../packages/app-minds/src/store/create-mind.ts'
import { createMemoryId } from '../../packages/app-minds/src/store/hash.ts'
import { MemoryTable } from '../../packages/app-minds/src/store/memory-table.ts'
import { MindTable } from '../../packages/app-minds/src/store/mind-table.ts'
import { MindsFile } from '../../packages/app-minds/src/store/minds-file.ts'
import { migrations } from '../../packages/app-minds/src/store/schema.ts'
import { readConfig } from '../../packages/app-minds/src/wire/read-config.ts'
import { mebibyte } from '../mebibyte.ts'
import { residentBytes } from '../program.ts'
import { heldTogether, type Section } from '../report.ts'
import { scriptedModel } from './scripted-model.ts'
import { activities, at, ms, observation, over, places, questioned, serve, timed } from './serve.ts'

const limits = limitsSchema.parse({})
/** Returns a sentence about a town, different for each number. */
const sentence = (n: number): string =>
  `Person ${n % 97} ${activities[n % activities.length]} at the ${places[n % places.length]} on day ${n}.`

/** Fills a data folder with minds that have the given number of memories each. */
async function fill(dir: string, minds: readonly string[], count: number): Promise<void> {
  mkdirSync(dir, { recursive: true })
  const file = new MindsFile({ dir, now: Date.now, limits, durability: 'normal' })
  const embedding = openEmbedding({}, file)
  const { config } = readConfig({ traits: ['curious'] }, limits)
  const texts = Array.from({ length: count }, (_, n) => sentence(n))
  const vectors = await embedding.computeVectors(texts)
  for (const mind_id of minds)
    await file.write((tables) =>
      createMind(tables, { mind_id, entity_id: mind_id, config, rng_seed: 1 }, limits),
    )
  const stored = await file.read((tables) => tables.minds.list('', minds.length))
  const rows = stored.map(({ seq, mind_id }) => ({ seq, mind_id }))
  const space = embedding.id
  await embedding.close()
  file.close()
  // Memories in the form that consolidation produces, written directly because only later calls are measured.
  const db = openDatabase(join(dir, 'minds.db'), { migrations })
  const memories = new MemoryTable(db, Date.now)
  const table = new MindTable(db, Date.now)
  const write = db.transaction((mind: (typeof rows)[number]) => {
    for (const [n, content] of texts.entries()) {
      const row = memories.add(mind.seq, {
        id: createMemoryId(mind.mind_id, n),
        content,
        importance: 1 + (n % 10),
        sim_time: n,
        location: null,
        kind: 'episodic',
        subject: null,
        tags: [],
      })
      if (row !== undefined) memories.addVector(mind.seq, row, space, packVector(vectors[n]))
    }
    table.setEmbedder(mind.seq, space)
  })
  for (const mind of rows) write(mind)
  db.close()
}

/** Measures everything. `server` is the server's entry point. */
export async function measureMinds(server: readonly string[]): Promise<Section> {
  const root = mkdtempSync(join(tmpdir(), 'causeway-bench-minds-'))
  const rows: string[][] = []
  try {
    await policy(join(root, 'one'), server, rows)
    await several(join(root, 'several'), server, rows)
    await model(join(root, 'model'), server, rows)
    await many(join(root, 'many'), server, rows)
    await big(join(root, 'big'), server, rows)
  } finally {
    rmSync(root, { recursive: true })
  }
  return {
    title: 'Minds',
    about:
      'Over HTTP to the built server, client on the same machine. The model is a script; its own time is measured separately.',
    head: ['case', 'aim', 'measured'],
    rows,
  }
}

/** Eight minds at the same time; every other decision answers a question. */
/** Pause between the starts of two decisions of a mind, ms. */
const turnMs = 200

/** Lets every mind act in each turn, as a game does, at evenly distributed times. Returns the sorted durations in ms. */
async function everyTurn(
  minds: readonly string[],
  turns: number,
  act: (mind: number, turn: number) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = []
  await Promise.all(
    minds.map(async (_name, mind) => {
      await delay((mind * turnMs) / minds.length)
      for (let turn = 0; turn < turns; turn++) {
        const before = performance.now()
        await act(mind, turn)
        times.push(performance.now() - before)
        await delay(Math.max(0, before + turnMs - performance.now()))
      }
    }),
  )
  return times.sort((a, b) => a - b)
}

async function several(dir: string, server: readonly string[], rows: string[][]): Promise<void> {
  const minds = Array.from({ length: 8 }, (_, n) => `npc_${n}`)
  await fill(dir, minds, 1000)
  await over(await serve(server, dir), async ({ call, program }) => {
    const decide = (n: number) => {
      const mind_id = minds[n % minds.length] ?? ''
      const step = Math.floor(n / minds.length)
      return call('decide_action', {
        mind_id,
        observation: step % 2 === 0 ? observation(mind_id, step) : questioned(mind_id, step),
      })
    }
    // The first question loads the relations of words, and the first of each mind its memories.
    await timed(160, 8, decide)
    const worked = program.cpuMs() ?? Number.NaN
    const times = await everyTurn(minds, 100, (mind, turn) => decide(160 + turn * minds.length + mind))
    const cpu = ((program.cpuMs() ?? Number.NaN) - worked) / times.length
    rows.push([
      'policy decisions and answers, 8 minds with 5 a second and 1,000 memories each',
      ...heldTogether([
        { what: 'p50', value: at(times, 0.5), limit: { most: 10 }, unit: 'ms' },
        {
          what: 'p95',
          value: at(times, 0.95),
          limit: { most: 20 },
          unit: 'ms',
          note: `at ${ms(cpu)} of processor time each`,
        },
      ]),
    ])
  })
}

async function policy(dir: string, server: readonly string[], rows: string[][]): Promise<void> {
  await fill(dir, ['mara'], 1000)
  await over(await serve(server, dir), async ({ call }) => {
    const decide = (n: number) =>
      call('decide_action', { mind_id: 'mara', observation: observation('mara', n) })
    await timed(200, 1, decide)
    const times = await timed(1000, 1, (n) => decide(200 + n))
    rows.push([
      'policy decision, 1 mind, 1,000 memories',
      ...heldTogether([
        { what: 'p50', value: at(times, 0.5), limit: { most: 4 }, unit: 'ms' },
        { what: 'p99', value: at(times, 0.99), limit: { most: 20 }, unit: 'ms' },
      ]),
    ])
    await call('create_mind', { mind_id: 'sleepy', config: { traits: [] } })
    for (let n = 0; n < 250; n++) {
      const seen = observation('sleepy', n)
      const well = {
        entity_id: `well_${n}`,
        display_name: `Well ${n}`,
        position: [1, 1],
        interactions: { drink: {} },
      }
      const inn = { ...well, entity_id: `inn_${n}`, display_name: `Inn ${n}` }
      await call('decide_action', {
        mind_id: 'sleepy',
        observation: { ...seen, needs: {}, vision: { visible_entities: [well, inn] } },
      })
    }
    const before = performance.now()
    const { consolidated_count } = await call('consolidate_memories', { mind_id: 'sleepy' })
    const took = performance.now() - before
    rows.push([
      `consolidating ${consolidated_count} memories of 500`,
      ...heldTogether([{ what: '', value: took, limit: { most: 500 }, unit: 'ms' }]),
    ])
  })
}

async function model(dir: string, server: readonly string[], rows: string[][]): Promise<void> {
  await fill(dir, ['mara', ...Array.from({ length: 50 }, (_, n) => `other_${n}`)], 100)
  const quick = await scriptedModel(0)
  await over(await serve(server, dir, { MINDS_LLM_URL: quick.url }), async ({ call }) => {
    const decide = (n: number) =>
      call('decide_action', { mind_id: 'mara', observation: observation('mara', n) })
    await timed(100, 1, decide)
    const provider = new Pool(new URL(quick.url).origin)
    const alone = await timed(300, 1, async () => {
      const body = JSON.stringify({ messages: [{ content: `step=memory_query ${'x'.repeat(4000)}` }] })
      const answer = await provider.request({ method: 'POST', path: '/v1/chat/completions', body })
      await answer.body.text()
    })
    const times = await timed(300, 1, (n) => decide(100 + n))
    await provider.close()
    const overhead = at(times, 0.5) - 3 * at(alone, 0.5)
    rows.push([
      'scripted model, 3 calls, beyond the provider',
      ...heldTogether([
        {
          what: 'p50',
          value: overhead,
          limit: { most: 8 },
          unit: 'ms',
          note: `(provider 3 × ${ms(at(alone, 0.5))})`,
        },
      ]),
    ])
  })
  quick.close()
  const slow = await scriptedModel(2000)
  const env = { MINDS_LLM_URL: slow.url, MINDS_LLM_OPTIONS: '{"max_concurrency": 50}' }
  await over(await serve(server, dir, env), async ({ call }) => {
    await call('create_mind', { mind_id: 'mara', config: { traits: [], selector: 'policy' } })
    let isOver = false
    const waiting = Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        call('decide_action', { mind_id: `other_${n}`, observation: observation(`other_${n}`, 1) }),
      ),
    ).finally(() => {
      isOver = true
    })
    const times: number[] = []
    for (let n = 0; !isOver; n++) {
      const [one = 0] = await timed(1, 1, () =>
        call('decide_action', { mind_id: 'mara', observation: observation('mara', n) }),
      )
      times.push(one)
    }
    await waiting
    times.sort((a, b) => a - b)
    rows.push([
      'policy decisions while 50 minds wait for a provider of 2 s',
      ...heldTogether([
        {
          what: 'p99',
          value: at(times, 0.99),
          limit: { most: 50 },
          unit: 'ms',
          note: `of ${times.length}`,
        },
      ]),
    ])
  })
  slow.close()
}

async function many(dir: string, server: readonly string[], rows: string[][]): Promise<void> {
  const minds = Array.from({ length: 1000 }, (_, n) => `npc_${n}`)
  await fill(dir, minds, 100)
  const before = performance.now()
  const asked = await serve(server, dir)
  const ready = performance.now() - before
  rows.push([
    'start with 1,000 minds',
    ...heldTogether([{ what: '', value: ready, limit: { most: 2000 }, unit: 'ms' }]),
  ])
  await over(asked, async ({ call, program }) => {
    const decide = (n: number) => {
      const mind_id = minds[n % minds.length] ?? ''
      return call('decide_action', {
        mind_id,
        observation: observation(mind_id, Math.floor(n / minds.length)),
      })
    }
    await timed(2000, 16, decide)
    const since = performance.now()
    const worked = program.cpuMs() ?? Number.NaN
    const times = await timed(6000, 16, (n) => decide(2000 + n))
    const seconds = (performance.now() - since) / 1000
    const cpu = ((program.cpuMs() ?? Number.NaN) - worked) / 6000
    const rss = residentBytes(program.pid) ?? Number.NaN
    rows.push([
      '1,000 minds × 100 memories, 16 callers',
      ...heldTogether([
        {
          what: '',
          value: 6000 / seconds,
          limit: { least: 400 },
          unit: '/s',
          note: `at ${ms(cpu)} of processor time each`,
        },
        { what: 'p99', value: at(times, 0.99), limit: { most: 100 }, unit: 'ms' },
        { what: '', value: rss / mebibyte, limit: { most: 400 }, unit: 'MiB' },
      ]),
    ])
  })
}

async function big(dir: string, server: readonly string[], rows: string[][]): Promise<void> {
  await fill(dir, ['old'], 100_000)
  await over(await serve(server, dir), async ({ call }) => {
    const ask = (n: number) =>
      call('recall_memories', {
        mind_id: 'old',
        query: `Who ${activities[n % 6]} at the ${places[n % 8]}? ${n}`,
      })
    const [cold = 0] = await timed(1, 1, ask)
    let isOver = false
    const otherCalls: number[] = []
    const watching = (async () => {
      while (!isOver) otherCalls.push(...(await timed(1, 1, () => call('list_minds', {}))))
    })()
    const times = await timed(60, 1, (n) => ask(n + 1))
    isOver = true
    await watching
    otherCalls.sort((a, b) => a - b)
    rows.push([
      'one query over 100,000 memories',
      ...heldTogether([
        { what: 'p50', value: at(times, 0.5), limit: { most: 90 }, unit: 'ms' },
        { what: 'cold', value: cold, limit: { most: 1500 }, unit: 'ms' },
        { what: 'other calls meanwhile p99', value: at(otherCalls, 0.99), limit: { most: 20 }, unit: 'ms' },
      ]),
    ])
  })
}
