import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { applyCommands } from '../../src/domain/apply-command.ts'
import { readCommands } from '../../src/domain/command.ts'
import { depths, type History, kindOf, redo, remember, undo } from '../../src/domain/history.ts'
import { applyPatch, inverse, patchBetween } from '../../src/domain/patch.ts'
import { type PlotDocument, parsePlot, textOf } from '../../src/domain/plot-document.ts'

const point = (id: string, name = id) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: { name, unknown: { deep: [1.5] } },
})
const plot = (...ids: readonly string[]): PlotDocument =>
  parsePlot(JSON.stringify({ type: 'FeatureCollection', features: ids.map((id) => point(id)) }, null, 2))

interface Edited {
  readonly document: PlotDocument
  readonly history: History
}

let seq = 0
const edit = ({ document, history }: Edited, command: unknown, { atMs = 0, actor = 'a' } = {}): Edited => {
  const after = applyCommands(document, readCommands(command), { idPrefix: `n${seq}` }).document
  const patch = patchBetween(document, after)
  if (Object.keys(patch).length === 0) return { document, history }
  seq += 1
  const size = JSON.stringify(patch).length
  const entry = { seq, kind: kindOf(patch), label: '', actor, atMs, patch, size, isUndone: false }
  return { document: after, history: remember(history, entry) }
}
const back = ({ document, history }: Edited, scope: 'features' | 'all' = 'features'): Edited =>
  undo(history, document, scope) ?? { document, history }
const forth = ({ document, history }: Edited, scope: 'features' | 'all' = 'features'): Edited =>
  redo(history, document, scope) ?? { document, history }

const time = (minute: number) => ({
  command: 'setTimeState',
  payload: {
    current: `2024-01-01T00:${String(minute % 60).padStart(2, '0')}:00Z`,
    start: '2024-01-01T00:00:00Z',
    end: '2024-01-01T01:00:00Z',
  },
})

verifies('debrief:undo', 'five edits, undone to the first text and done again', async (t) => {
  const start: Edited = { document: plot('a', 'b', 'c', 'd'), history: [] }
  const edits = [
    { command: 'deleteFeatures', payload: ['b', 'd'] },
    { command: 'addFeatures', payload: [point('e')] },
    { command: 'updateFeatures', payload: [point('c', 'C')] },
    {
      command: 'setFeatureCollection',
      payload: { name: 'x', features: [point('e'), point('a'), point('z')] },
    },
    { command: 'deleteFeatures', payload: ['a'] },
  ]
  const states = [start]
  for (const command of edits) states.push(edit(states.at(-1) as Edited, command))
  let now = states.at(-1) as Edited
  for (const state of [...states].reverse()) {
    t.equal(textOf(now.document), textOf(state.document))
    now = back(now)
  }
  for (const state of states) {
    t.equal(textOf(now.document), textOf(state.document))
    now = forth(now)
  }
  const undone = back(back(now))
  const branched = edit(undone, { command: 'deleteFeatures', payload: ['c'] })
  t.same(depths(branched.history).redo, { features: 0, all: 0 })
  t.equal(undo([], start.document, 'all'), undefined)
  t.equal(redo(branched.history, branched.document, 'all'), undefined)
})

verifies('debrief:undo:states', async (t) => {
  let now: Edited = { document: plot('a', 'b'), history: [] }
  now = edit(now, { command: 'deleteFeatures', payload: ['a'] })
  for (let move = 0; move < 100; move += 1) now = edit(now, time(move), { atMs: move * 15 })
  t.ok(now.history.length <= 3, `${now.history.length} entries`)
  t.same(
    back(now).document.items.map(({ id }) => id),
    ['a', 'b'],
    'features are undone over the slider',
  )
  const other = edit(now, time(7), { atMs: 1500, actor: 'somebody else' })
  t.equal(other.history.length, now.history.length + 1, 'two actors are two entries')
})

verifies(
  'debrief:selection:pruned',
  'undo of a deletion selects again, unless somebody selected since',
  async (t) => {
    const start = edit(
      { document: plot('a', 'b'), history: [] },
      { command: 'setSelection', payload: { selectedIds: ['a'] } },
    )
    const deleted = edit(start, { command: 'deleteFeatures', payload: ['a'] })
    t.same(deleted.document.selection, [])
    t.same(back(deleted).document.selection, ['a'])
    const since = edit(deleted, { command: 'setSelection', payload: { selectedIds: ['b'] } })
    t.same(back(since).document.selection, ['b'])
  },
)

t.test('history: at most a hundred entries, and a change of state keeps the redo of features', async (t) => {
  let now: Edited = { document: plot('a'), history: [] }
  for (let count = 0; count < 120; count += 1)
    now = edit(now, { command: 'addFeatures', payload: [point(`n${count}`)] })
  t.equal(now.history.length, 100)
  const moved = edit(back(now), time(3), { atMs: 9e9 })
  t.equal(depths(moved.history).redo.features, 1)
  t.equal(depths(back(moved, 'all').history).redo.all, 2)
})

t.test(
  'patches: whatever is done, the patch makes the after of the before, and its inverse the before again',
  async (t) => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const command = fc.oneof(
      fc.uniqueArray(id).map((payload) => ({ command: 'deleteFeatures', payload })),
      fc.uniqueArray(id).map((ids) => ({
        command: 'setFeatureCollection',
        payload: { features: ids.map((one) => point(one, `${one}!`)) },
      })),
      fc.uniqueArray(id).map((selectedIds) => ({ command: 'setSelection', payload: { selectedIds } })),
      fc.tuple(fc.uniqueArray(id), fc.string()).map(([ids, name]) => ({
        command: 'updateFeatures',
        payload: ids.map((one) => point(one, name)),
      })),
      fc.nat(59).map(time),
      fc.nat(9).map((number) => ({ command: 'addFeatures', payload: [point(`n${number}`)] })),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 8 }), (commands) => {
        let document = plot('a', 'b', 'c', 'd', 'e')
        for (const one of commands) {
          const taken = new Set(document.items.map((item) => item.id))
          if (one.command === 'addFeatures' && taken.has((one.payload as { id: string }[])[0]?.id ?? ''))
            continue
          const after = applyCommands(document, readCommands(one), {
            idPrefix: 'n',
            ignoreMissing: true,
          }).document
          const patch = JSON.parse(JSON.stringify(patchBetween(document, after)))
          const made = applyPatch(document, patch)
          const again = applyPatch(made, inverse(patch))
          if (textOf(made) !== textOf(after) || textOf(again) !== textOf(document)) return false
          if (made.selection.join() !== after.selection.join()) return false
          document = after
        }
        return true
      }),
      { numRuns: 300 },
    )
    t.pass('300 histories')
  },
)
