import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { inCI } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import { actionNames } from '../../src/domain/action.ts'
import { limitsSchema } from '../../src/limits.ts'
import type { Minds } from '../../src/mind/minds.ts'
import { readConfig } from '../../src/wire/read-config.ts'
import { findWellStep, observeWell } from '../killed/wells.ts'
import { createDataFolder, type Data, decide, makeMind, type OpenMinds, openMinds } from '../minds-kit.ts'
import { createValidAnswer, type Script, startScripted } from '../provider/scripted-provider.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 900_000 : 120_000)

const program = fileURLToPath(new URL('../killed/living.ts', import.meta.url))

/** Runs a process, kills it `lateMs` after `lines` results arrived, and returns the results. */
async function runUntilKilled(
  t: Test,
  dir: string,
  from: number,
  { lines, lateMs }: { lines: number; lateMs: number },
) {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=@causeway/source', program, dir, String(from)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const answers = new Map<string, Data>()
  let lineCount = 0
  if (child.stdout === null) throw new Error('the process has an output')
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { request_id, answer } = JSON.parse(line)
    if (request_id !== undefined) answers.set(request_id, answer)
    if (++lineCount === lines) setTimeout(() => child.kill('SIGKILL'), lateMs)
  })
  const [code, signal] = await once(child, 'close')
  t.same([code, signal], [null, 'SIGKILL'])
  return answers
}

async function listMemories(minds: OpenMinds, mindId: string): Promise<{ id: string; content: string }[]> {
  const store = minds.app.store as Minds
  const longTermMemories = store.read(mindId, ({ memories }, { seq }) => memories.listNewest(seq, 1e6))
  return [...(await longTermMemories), ...(await minds.read(`mind://${mindId}/daily_memories`))]
}

/** Returns random numbers from a seed, so that a failing run can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

verifies(
  'minds:killed',
  'completed calls are retained if the process is killed during decisions or a consolidation',
  inCI(async (t) => {
    const dir = await createDataFolder(t)
    const first = await openMinds(t, { dir })
    for (const id of ['mara', 'ben']) await makeMind(first, id)
    await first.app.close()
    const next = createRandom(20_251_122)
    const all = new Map<string, Data>()
    let from = 0
    for (let life = 0; life < (isLong ? 50 : 5); life++) {
      const answers = await runUntilKilled(t, dir, from, {
        lines: 1 + Math.floor(next() * 40),
        lateMs: next() * 15,
      })
      for (const [id, answer] of answers) all.set(id, answer)
      from = 10 + Math.max(from, ...[...all.keys()].map((id) => Number(id.split('-')[1])))
      const minds = await openMinds(t, { dir })
      for (const mind of ['mara', 'ben']) {
        const memories = await listMemories(minds, mind)
        const steps = memories.flatMap(({ content }) => findWellStep(content) ?? [])
        t.equal(new Set(memories.map(({ id }) => id)).size, memories.length, 'ids are unique')
        t.equal(new Set(steps).size, steps.length, 'memories are unique')
        const mine = [...all.keys()].filter((id) => id.startsWith(mind)).map((id) => Number(id.split('-')[1]))
        t.same(
          mine.filter((step) => !steps.includes(step)),
          [],
          'no memory of a completed call is lost',
        )
        const state = await minds.read(`mind://${mind}/state`)
        t.equal(
          state.daily_memories_count + state.long_term_memory_count,
          memories.length,
          'counts are correct',
        )
      }
      const [last = ''] = [...answers.keys()].slice(-1)
      const [mind_id = ''] = last.split('-')
      const again = await minds.call('decide_action', {
        mind_id,
        observation: observeWell(mind_id, 0),
        request_id: last,
      })
      t.same(again, { ...all.get(last), replayed: true }, 'the last result is stored')
      t.match(
        await minds.call('decide_action', {
          mind_id,
          observation: observeWell(mind_id, from++),
          request_id: `${mind_id}-${from - 1}`,
        }),
        { status: 'success' },
      )
      all.set(`${mind_id}-${from - 1}`, undefined)
      t.match(await minds.call('consolidate_memories', { mind_id, request_id: `after-${life}` }), {
        status: 'success',
      })
      await minds.app.close()
    }
  }),
)

/** A slow provider, so that calls arrive during a decision. */
const slowScript: Script = (request) => ({
  take: (response) => {
    const choices = [{ message: { content: createValidAnswer(request) }, finish_reason: 'stop' }]
    void pause(40).then(() => response.writeHead(200).end(JSON.stringify({ model: 'scripted', choices })))
  },
})

verifies(
  'minds:life',
  'a mind that is released or deleted completes only its running decisions',
  async (t) => {
    const provider = await startScripted(t, slowScript)
    const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
    for (const [tool, status] of [
      ['cleanup_mind', 'removed'],
      ['forget_mind', 'forgotten'],
    ] as const) {
      await makeMind(minds, tool)
      const [runningDecision, removal, laterDecision, laterConsolidation] = await Promise.allSettled([
        decide(minds, tool, 100),
        minds.call(tool, { mind_id: tool }),
        decide(minds, tool, 101),
        minds.call('consolidate_memories', { mind_id: tool }),
      ])
      t.match(runningDecision, { status: 'fulfilled', value: { status: 'success', decided_by: 'llm' } })
      t.match(removal, { status: 'fulfilled', value: { status } })
      t.match(laterDecision, { status: 'rejected', reason: { code: 'MIND_NOT_FOUND' } })
      t.match(laterConsolidation, { status: 'rejected', reason: { code: 'MIND_NOT_FOUND' } })
    }
  },
)

verifies(
  'minds:parallel',
  'concurrent decisions, consolidations and recalls retain every memory',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara')
    const wells = (n: number) => [
      { entity_id: `well_${n}`, display_name: `Well ${n}`, position: [13, 7], interactions: { drink: {} } },
    ]
    const all = Array.from({ length: 60 }, (_, n) => n)
    const answers = await Promise.all(
      all.flatMap((n): Promise<{ readonly status?: string; readonly summary?: string }>[] => [
        decide(minds, 'mara', 100 + n, { entities: wells(n), needs: { hunger: 90 }, request_id: `d${n}` }),
        minds.call('recall_memories', { mind_id: 'mara', query: `Well ${n} drink` }),
        ...(n % 7 === 0
          ? [minds.call('consolidate_memories', { mind_id: 'mara', request_id: `s${n}` })]
          : []),
      ]),
    )
    t.ok(answers.every(({ status, summary }) => status === 'success' || summary !== undefined))
    for (const when of ['by day', 'after a sleep']) {
      for (const n of [0, 21, 31, 59])
        t.match(
          await minds.call('recall_memories', { mind_id: 'mara', query: `Well ${n} drink`, k: 1 }),
          { memories: [{ content: `I saw Well ${n} at (13, 7), where one can drink.` }] },
          when,
        )
      await minds.call('consolidate_memories', { mind_id: 'mara' })
    }
    t.equal((await minds.read('mind://mara/memories?limit=1000')).length, 60)
  },
)

const text = readFileSync(new URL('../../../../docs/minds.md', import.meta.url), 'utf8')

/** Returns the rows of the table in docs/minds.md whose first column has this heading. */
const findTable = (column: string): readonly (readonly string[])[] => {
  const [, rows = ''] =
    new RegExp(`^\\| ${column} \\|.*\\n\\| ---.*\\n((?:\\|.*\\n?)+)`, 'm').exec(text) ?? []
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split(/(?<!\\)\|/).slice(1, -1))
}
const listNames = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)

t.test('docs/minds.md lists every limit with its default', async (t) => {
  const listedNames = findTable('limit').flatMap(([names, defaults = '']) => {
    const values = defaults.split(',').map(Number)
    return listNames(names).map((name, index) => [name, values[index]] as const)
  })
  t.same(Object.fromEntries(listedNames), limitsSchema.parse({}))
})

t.test('docs/minds.md lists every field of a config', async (t) => {
  const section = text.slice(text.indexOf('## A character'), text.indexOf('## A language model'))
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const members = rows.flatMap((row) => listNames(row.split('|')[1]))
  const all = Object.fromEntries(members.map((name) => [name, undefined]))
  const { config, warnings } = readConfig(all, limitsSchema.parse({}))
  t.same(
    warnings.filter((warning) => warning.startsWith('config:')),
    [],
    'has no unknown fields',
  )
  t.same(
    Object.keys(config).filter((name) => !members.includes(name)),
    [],
    'documents every default',
  )
})

t.test('docs/minds.md lists every action except move_direction and mark_zone', async (t) => {
  const listedNames = new Set(findTable('action').flatMap(([names]) => listNames(names)))
  const undocumentedActions = ['move_direction', 'mark_zone']
  t.same([...listedNames].sort(), actionNames.filter((name) => !undocumentedActions.includes(name)).sort())
})
