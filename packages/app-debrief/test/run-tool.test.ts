import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { ask, type Data, vaultOf } from './debrief-kit.ts'

const selection = { from: 'selection', kinds: ['any'], min: 1, max: null }

verifies('debrief:run-tool', async (t) => {
  const calls: Data[] = []
  const noted = (args: Data) => {
    calls.push(args)
    return { command: 'showText', payload: 'done' }
  }
  const call = vaultOf({
    delete_features: {
      inject: { features: selection },
      run: ({ features }) => ({ command: 'deleteFeatures', payload: features.map(({ id }: Data) => id) }),
    },
    look: {
      inject: {
        collection: { from: 'collection' },
        track: { from: 'track' },
        view: { from: 'viewport' },
        time: { from: 'time' },
      },
      run: noted,
    },
    tracks: { inject: { tracks: { from: 'selection', kinds: ['track'], min: 1, max: 1 } }, run: noted },
  })
  const client = await ask(t, 'sample', { call })
  t.match(await client.ask('list_applicable_tools'), {
    tools: [{ name: 'look' }],
    not_applicable: [{ name: 'delete_features' }, { name: 'tracks' }],
  })
  await client.ask('set_selection', { selectedIds: ['feature1', 'feature4'] })
  t.match(await client.ask('list_applicable_tools'), { tools: [{}, {}, {}], not_applicable: [] })

  await client.ask('run_tool', { tool: 'look' })
  t.match(calls[0], {
    collection: { type: 'FeatureCollection', features: [{ id: 'feature1' }, { id: 'feature4' }] },
    track: { id: 'feature4' },
    view: { bounds: [Number, Number, Number, Number] },
    time: { start: '2024-01-01T00:00:00Z' },
  })
  await client.ask('run_tool', {
    tool: 'look',
    args: { track: { mine: true }, view: { bounds: [1, 2, 3, 4] } },
  })
  t.match(calls[1], { track: { mine: true }, view: { bounds: [1, 2, 3, 4] } })
  await client.ask('run_tool', { tool: 'tracks' })
  t.match(calls[2], { tracks: [{ id: 'feature4' }] })

  t.match(await client.ask('run_tool', { tool: 'delete-features', apply: false }), {
    command: { command: 'deleteFeatures', payload: ['feature1', 'feature4'] },
    rev: 2,
  })
  t.match(await client.ask('run_tool', { tool: 'toolvault_delete_features' }), {
    rev: 3,
    featuresAffected: 2,
    from_plot: ['features'],
    feature_count: 4,
  })
  await client.ask('undo')
  t.match(await client.ask('get_selection'), { selectedIds: ['feature1', 'feature4'] })
  t.match(await client.refusal('run_tool', { tool: 'nothing' }), {
    code: 'UNKNOWN_TOOL',
    data: { tools: ['delete_features', 'look', 'tracks'] },
  })
})

verifies('debrief:run-tool:fence', async (t) => {
  let runs = 0
  const client = await ask(t, 'sample', {
    call: vaultOf({
      slow: {
        inject: { collection: { from: 'collection' } },
        async run({ collection }) {
          runs += 1
          if (runs === 1) await client.ask('delete_features', { ids: ['feature6'] })
          return { command: 'showText', payload: `saw ${collection.features.length}` }
        },
      },
    }),
  })
  t.match(await client.ask('run_tool', { tool: 'slow' }), { notices: [{ text: 'saw 5' }] })
  t.equal(runs, 2)
})

t.test('run_tool: a command that does not fit changes nothing', async (t) => {
  const call = vaultOf({
    wrong: { run: () => ({ command: 'deleteFeatures', payload: ['feature1', 'nobody'] }) },
  })
  const client = await ask(t, 'sample', { call })
  t.match(await client.refusal('run_tool', { tool: 'wrong' }), { code: 'FEATURE_NOT_FOUND' })
  t.match(await client.ask('get_features'), { rev: 1, total: 6 })
})

t.test('run_tool: a summary ends with one period, whatever the tool said', async (t) => {
  const say = (payload: string) => ({ run: () => ({ command: 'showText', payload }) })
  const call = vaultOf({
    plain: say('Word count: 2'),
    ended: say('Nothing found.'),
    long: say('a'.repeat(900)),
  })
  const client = await ask(t, 'sample', { call })
  t.equal((await client.ask('run_tool', { tool: 'plain' })).summary, 'Applied: Word count: 2.')
  t.equal((await client.ask('run_tool', { tool: 'ended' })).summary, 'Applied: Nothing found.')
  t.match((await client.ask('run_tool', { tool: 'long' })).summary, /a …$/)
})
