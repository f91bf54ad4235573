import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import replay from '../src/index.ts'
import { type OpenReplay, openReplay } from './replay-kit.ts'

const json = async ({ client }: OpenReplay, uri: string): Promise<Record<string, unknown>> => {
  const contents = await client().read(uri)
  return JSON.parse('text' in contents ? contents.text : '')
}

/** The context of a call from outside a tool, as far as resources use it. */
const context = ({ app }: OpenReplay) =>
  ({ store: app.store, session: {}, signal: new AbortController().signal, progress: () => {} }) as never

const resource = (end: string) => {
  const found = replay.resources.find(({ template }) => template.text.endsWith(end))
  if (found === undefined) throw new Error(`no resource ${end}`)
  return found
}

verifies('replay:resource:metadata', async (t) => {
  const open = await openReplay(t, ['drop', 'stack'])
  t.match(await json(open, 'replay://recordings/drop/metadata'), { recording: 'drop', total_frames: 150 })
  t.same(
    (await resource('/metadata').list(context(open))).map(({ uri }) => uri),
    ['replay://recordings/drop/metadata'],
    'recordings that were loaded are listed',
  )
  t.same((await resource('/metadata').complete('recording', {}, context(open))).toSorted(), ['drop', 'stack'])
  await t.rejects(json(open, 'replay://recordings/missing/metadata'), { code: 'RECORDING_NOT_FOUND' })
})

verifies('replay:resource:frame', async (t) => {
  const open = await openReplay(t, ['drop'])
  const frame = (id: string) => json(open, `replay://recordings/drop/frames/${id}`)
  t.match(await frame('42'), { frame_id: 42, recording: 'drop', states: [{ body_id: 2 }] })
  t.match(await frame('latest'), { frame_id: 150 })
  await t.rejects(frame('151'), { code: 'FRAME_NOT_FOUND' })
  await t.rejects(frame('first'), { code: 'RESOURCE_NOT_FOUND' })
  const ids = await resource('{frame_id}').complete('frame_id', { recording: 'drop' }, context(open))
  t.same([ids[0], ids[1], ids.at(-1), ids.length], ['latest', '1', '150', 151])
  t.same(await resource('{frame_id}').complete('frame_id', {}, context(open)), ['latest'])
})

t.test('frames: a recording without frames has no latest one', async (t) => {
  const open = await openReplay(t, ['zero_frames'])
  const read = json(open, 'replay://recordings/zero_frames/frames/latest')
  await t.rejects(read, { code: 'RESOURCE_NOT_FOUND' })
  const ids = resource('{frame_id}').complete('frame_id', { recording: 'zero_frames' }, context(open))
  t.same(await ids, [])
})
