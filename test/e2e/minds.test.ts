/** Minds on a running server: the game client, the older transport, kills at random times, and no network. */
import { readFileSync } from 'node:fs'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import t, { type Test } from 'tap'
import { createValidAnswer, startScripted } from '../../packages/app-minds/test/provider/scripted-provider.ts'
import { shellBlocks } from '../documented/blocks.ts'
import { run } from '../documented/program.ts'
import { inCI } from '../tier.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { postMcp } from './http.ts'
import { fromSource, type RunningServer, startServer } from './server-process.ts'

t.setTimeout(process.env.CAUSEWAY_LONG === undefined ? 90_000 : 900_000)

// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
type Data = any

const listening = { CAUSEWAY_LISTEN: 'minds:0', CAUSEWAY_APPS: 'Minds' }

const getAliasUrl = async ({ server }: RunningServer): Promise<string> =>
  (await server.saw('an app has a port of its own')).url

/** Creates an observation. Each step has different surroundings, so that each step forms one memory. */
const observation = (entity_id: string, step: number) => ({
  entity_id,
  current_simulation_time: 100 + step,
  status: { position: [step, 0], current_interaction: {} },
  needs: { needs: { hunger: 90 }, max_value: 100 },
  vision: {
    visible_entities: [
      {
        entity_id: `well_${step}`,
        display_name: `Well number ${step}`,
        position: [step, 5],
        interactions: { drink: { name: 'drink', needs_filled: ['thirst'], needs_drained: [] } },
      },
    ],
  },
})

/** Returns a function that calls a tool on `/mcp/minds`. */
const createCaller =
  (url: string) =>
  async (name: string, args: object): Promise<Data> => {
    const { json } = await postMcp(url, 'tools/call', { name, arguments: args }, { path: '/mcp/minds' })
    return json.result?.structuredContent ?? JSON.parse(json.result?.content[0].text)
  }

const read = async (url: string, uri: string): Promise<Data> => {
  const { json } = await postMcp(url, 'resources/read', { uri }, { path: '/mcp/minds' })
  return JSON.parse(json.result.contents[0].text)
}

verifies('minds:game-client', async (t) => {
  const running = await startServer(t, { dir: t.testdir(), env: listening })
  const folder = `${repository}/examples/minds-godot`
  const [, game] = shellBlocks(readFileSync(`${folder}/README.md`, 'utf8'))
  const { code, stdout, stderr } = await run(
    t,
    `'${process.execPath}' ${folder}/game.mjs ${await getAliasUrl(running)}`,
    {},
  )
  t.equal(code, 0, stderr)
  t.equal(stdout, game?.output)
  t.match(readFileSync(`${folder}/minds.env`, 'utf8'), /^CAUSEWAY_LISTEN=minds:3000$/m)
})

verifies(
  'minds:decisions',
  'viewers read the known places, last seen first',
  inCI(async (t) => {
    const { url } = await startServer(t, { dir: t.testdir() })
    const call = createCaller(url)
    await call('create_mind', { mind_id: 'mara', config: { entity_id: 'mara' } })
    for (const step of [1, 2])
      await call('decide_action', { mind_id: 'mara', observation: observation('mara', step) })
    const get = (mind: string): Promise<Response> => fetch(`${url}/api/apps/minds/minds/${mind}/places`)
    t.same(await (await get('mara')).json(), {
      mind_id: 'mara',
      places: [2, 1].map((step) => ({
        entity_id: `well_${step}`,
        display_name: `Well number ${step}`,
        position: [step, 5],
        interactions: ['drink'],
        last_seen: 100 + step,
        gone: false,
      })),
      total: 2,
    })
    const absent = await get('absent')
    t.equal(absent.status, 404)
    t.match(await absent.json(), { code: 'MIND_NOT_FOUND' })
  }),
)

verifies(
  'minds:shapes',
  'the curl commands of the README return the documented responses',
  inCI(async (t) => {
    const { url } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_APPS: 'Minds' } })
    const [walk] = shellBlocks(readFileSync(`${repository}/packages/app-minds/README.md`, 'utf8'))
    const { code, stdout, stderr } = await run(
      t,
      walk?.commands.replaceAll('localhost:3100', new URL(url).host) ?? '',
      {},
    )
    t.equal(code, 0, stderr)
    const responses = stdout.split(/(?<=\})(?=\{)/).map((text) => JSON.parse(text))
    t.match(responses[0], { status: 'created', mind_id: 'npc_mara' })
    t.match(responses[1], walk?.answer as object)
  }),
)

verifies(
  'minds:bare-names',
  inCI(async (t) => {
    const running = await startServer(t, { dir: t.testdir(), env: listening })
    const addresses = [`${running.url}/sse/minds`, `${await getAliasUrl(running)}/sse`]
    for (const [index, address] of addresses.entries()) {
      const client = new ClientV1({ name: 'old', version: '1' })
      await client.connect(new SseV1(new URL(address)) as Parameters<typeof client.connect>[0])
      t.teardown(() => client.close())
      const names = (await client.listTools()).tools.map(({ name }) => name)
      t.ok(
        ['create_mind', 'decide_action', 'consolidate_memories', 'cleanup_mind'].every((name) =>
          names.includes(name),
        ),
      )
      const mind_id = `old_${index}`
      const call = async (name: string, args: Record<string, unknown>): Promise<Data> =>
        client.callTool({ name, arguments: args })
      t.match(await call('create_mind', { mind_id, config: { traits: [] } }), {
        structuredContent: { status: 'created' },
      })
      const decided = await call('decide_action', { mind_id, observation: observation(mind_id, 1) })
      t.same(
        JSON.parse(decided.content[0].text),
        decided.structuredContent,
        'the text is the structured content as JSON',
      )
      const missing = await call('decide_action', {
        mind_id: 'absent',
        observation: observation('absent', 1),
      })
      t.equal(missing.isError, true)
      t.match(JSON.parse(missing.content[0].text), {
        status: 'error',
        action: null,
        error_message: 'Mind absent not found',
        code: 'MIND_NOT_FOUND',
      })
      const { contents } = await client.readResource({ uri: 'mind://absent/state' })
      t.same(
        JSON.parse(String((contents[0] as Data).text)),
        { error: 'Mind absent not found' },
        'the response of the original',
      )
    }
    const { json: elsewhere } = await postMcp(running.url, 'resources/read', { uri: 'mind://absent/state' })
    t.match(elsewhere, { error: { message: 'Mind absent not found' } }, 'every other client gets an error')
    const { json } = await postMcp(running.url, 'tools/call', { name: 'Minds__list_minds', arguments: {} })
    t.match(json.result.structuredContent, { minds: [{ mind_id: 'old_0' }, { mind_id: 'old_1' }] })
  }),
)

verifies(
  'minds:offline',
  inCI(async (t) => {
    const guard = ['--import', `${repository}/test/e2e/connect-guard.mjs`, ...fromSource]
    const { url, server } = await startServer(t, {
      dir: t.testdir(),
      program: guard,
      env: { CAUSEWAY_APPS: 'Minds' },
    })
    const call = createCaller(url)
    t.match(
      await call('create_mind', { mind_id: 'mara', config: { traits: [], llm_model: 'google/some-model' } }),
      { selector_effective: 'policy' },
    )
    for (let step = 0; step < 5; step++)
      t.match(await call('decide_action', { mind_id: 'mara', observation: observation('mara', step) }), {
        status: 'success',
        decided_by: 'policy',
      })
    t.match(await call('consolidate_memories', { mind_id: 'mara' }), { status: 'success' })
    t.match(await call('recall_memories', { mind_id: 'mara', query: 'well' }), {
      memories: [{ content: /Well/ }],
    })
    await server.stop()
    t.same(
      server.log.all.filter(({ msg }) => msg === 'connection opened'),
      [],
      'no connection was opened',
    )
  }),
)

verifies(
  'minds:repeat',
  'a repeated request returns the decision of the aborted request',
  inCI(async (t) => {
    const waiting: (() => void)[] = []
    const provider = await startScripted(t, (request) => ({
      take: (response) => {
        const choices = [{ message: { content: createValidAnswer(request) }, finish_reason: 'stop' }]
        waiting.push(() => response.writeHead(200).end(JSON.stringify({ model: 'scripted', choices })))
      },
    }))
    const env = { CAUSEWAY_APPS: 'Minds', MINDS_LLM_URL: provider.url }
    const { url, server } = await startServer(t, { dir: t.testdir(), env })
    const call = createCaller(url)
    await call('create_mind', { mind_id: 'mara', config: { traits: [], memory_query: 'heuristic' } })
    const args = { mind_id: 'mara', observation: observation('mara', 1), request_id: 'hung-up' }
    const hanging = new AbortController()
    const params = { name: 'decide_action', arguments: args }
    const left = postMcp(url, 'tools/call', params, { path: '/mcp/minds', signal: hanging.signal })
    const until = async (count: number): Promise<void> => {
      while (provider.requests.length < count) await new Promise((resolve) => setImmediate(resolve))
    }
    await until(1)
    hanging.abort()
    await t.rejects(left)
    waiting[0]?.()
    await until(2)
    waiting[1]?.()
    await server.saw('decided')
    t.match(await call('decide_action', args), { status: 'success', decided_by: 'llm', replayed: true })
    t.equal(provider.requests.length, 2, 'the model was not called again')
    t.match(await read(url, 'mind://mara/state'), { decisions: 1 })
  }),
)

/** Creates a random number generator with a seed, so that a failing run can be repeated. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Makes decisions and consolidations for two minds until the server is killed. `onAnswer` is called after each decision. */
async function liveUntilKilled(
  url: string,
  from: number,
  onAnswer: () => void,
): Promise<{ answered: Map<string, Data>; next: number }> {
  const call = createCaller(url)
  const answered = new Map<string, Data>()
  let step = from
  const live = async (mind_id: string): Promise<void> => {
    for (;;) {
      const mine = step++
      const request_id = `${mind_id}-${mine}`
      answered.set(
        request_id,
        await call('decide_action', { mind_id, observation: observation(mind_id, mine), request_id }),
      )
      onAnswer()
      if (mine % 3 === 0) await call('consolidate_memories', { mind_id })
    }
  }
  await Promise.allSettled(['mara', 'ben'].map(live))
  return { answered, next: step }
}

/** Returns the memories of a mind about wells, each with its step. */
async function readWellMemories(url: string, mindId: string): Promise<{ id: string; step: number }[]> {
  const memories = [
    ...(await read(url, `mind://${mindId}/memories?limit=1000`)),
    ...(await read(url, `mind://${mindId}/daily_memories`)),
  ]
  return memories.flatMap(({ id, content }: Data) => {
    const step = /I saw Well number (\d+) /.exec(content)?.[1]
    return step === undefined ? [] : [{ id, step: Number(step) }]
  })
}

async function checkMemories(t: Test, url: string, all: ReadonlyMap<string, Data>): Promise<void> {
  for (const mindId of ['mara', 'ben']) {
    const known = await readWellMemories(url, mindId)
    const steps = known.map(({ step }) => step)
    t.equal(new Set(steps).size, steps.length, `${mindId}: no memory is duplicated`)
    t.equal(new Set(known.map(({ id }) => id)).size, known.length, `${mindId}: no id is duplicated`)
    const mine = [...all.keys()].filter((id) => id.startsWith(mindId)).map((id) => Number(id.split('-')[1]))
    t.same(
      mine.filter((step) => !steps.includes(step)),
      [],
      `${mindId}: no memory of an answered decision is lost`,
    )
  }
}

verifies(
  'minds:killed',
  inCI(async (t) => {
    const times = process.env.CAUSEWAY_LONG === undefined ? 1 : 20
    const dir = t.testdir()
    const next = random(20_251_122)
    const all = new Map<string, Data>()
    const env = { CAUSEWAY_APPS: 'Minds', CAUSEWAY_MINDS_LIMITS: '{"daily_memories": 400}' }
    let running = await startServer(t, { dir, env })
    for (const mind_id of ['mara', 'ben'])
      await createCaller(running.url)('create_mind', { mind_id, config: { traits: [] } })
    // The first decision waits until the memory index is trained, and the kills must interrupt decisions.
    await createCaller(running.url)('decide_action', { mind_id: 'mara', observation: observation('mara', 0) })
    let step = 1
    for (let round = 0; round < times; round++) {
      const { server, url } = running
      const afterMs = next() * 180
      let killed: NodeJS.Timeout | undefined
      const { answered, next: after } = await liveUntilKilled(url, step, () => {
        killed ??= setTimeout(() => server.process.kill('SIGKILL'), afterMs)
      })
      clearTimeout(killed)
      await server.exited
      step = after
      for (const [id, answer] of answered) all.set(id, answer)
      running = await startServer(t, { dir, env })
      await checkMemories(t, running.url, all)
      const [last] = [...answered.keys()].slice(-1)
      if (last !== undefined) {
        const [mind_id = ''] = last.split('-')
        const again = await createCaller(running.url)('decide_action', {
          mind_id,
          observation: observation(mind_id, 0),
          request_id: last,
        })
        t.same(again, { ...all.get(last), replayed: true }, 'a repeated request returns the last result')
      }
      t.match(
        await createCaller(running.url)('decide_action', {
          mind_id: 'mara',
          observation: observation('mara', step++),
        }),
        { status: 'success' },
      )
    }
    t.ok(all.size >= times, `${all.size} decisions were answered in ${times} rounds`)
  }),
)
