/** A data folder that was moved by hand between two servers. */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, everyWork, promisesOf, settingsOf } from './lives.ts'
import { tool } from './work.ts'

t.setTimeout(300_000)

verifies('data:moved', async (t) => {
  const root = t.testdir({ data: {}, elsewhere: {}, plots: {}, projects: {} })
  const [before, after] = [join(root, 'data'), join(root, 'elsewhere', 'moved')]
  const works = everyWork(root)
  const env = { ...settingsOf(works), CAUSEWAY_PLOT_SAVE_MS: '3600000' }
  for (const work of works) work.before?.()
  const first = await startServer(t, { dir: before, env })
  const { url } = first
  for (const work of works) await work.begin({ url, dir: before })
  for (let i = 0; i < 2; i++) for (const work of works) await work.step({ url, dir: before })
  const runs = async (url: string) => {
    const { recordings } = await tool(url, ['replay', 'list_recordings'], {})
    return recordings.filter(({ name }: { name: string }) => name === 'living')
  }
  const [run] = await runs(url)

  // A refinement whose work is in a copy of the project, in the data folder, until it ends.
  const project = join(root, 'projects', 'desk')
  mkdirSync(project)
  writeFileSync(join(project, 'value.py'), 'VALUE = 0\n')
  const start = { repo: 'desk', test: 'cat value.py', preflight: false, options: { write: 'end' } }
  const { sessionId: sid } = await tool(url, ['trm', 'start'], start)
  const submit = async (url: string, from: number) => {
    const edits = [{ type: 'replace', oldText: `VALUE = ${from}\n`, newText: `VALUE = ${from + 1}\n` }]
    const candidate = { mode: 'modify', changes: [{ file: 'value.py', edits }] }
    await tool(url, ['trm', 'submit'], { sid, candidate, force: true, wait: 60 })
  }
  await submit(url, 0)

  // A plot that another program wrote as well: ours is kept in the data folder.
  const filename = 'sample.plot.json'
  for (const work of works) if (work.name === 'debrief') await work.step({ url, dir: before })
  const { features } = await tool(url, ['debrief', 'get_features'], { filename })
  const file = join(root, 'plots', filename)
  writeFileSync(file, readFileSync(file, 'utf8').replace('{', '{ '))
  await first.server.stop()
  t.equal(readdirSync(join(before, 'debrief-unsaved')).length, 1)

  renameSync(before, after)
  const second = await startServer(t, { dir: after, env })
  const place = { url: second.url, dir: after }
  t.match(await runs(second.url), [
    {
      recording: run.recording,
      total_frames: run.total_frames,
      path: join(after, 'recordings', 'living.db'),
    },
  ])
  t.equal((await runs(second.url)).length, 1)
  const plot = await tool(place.url, ['debrief', 'get_features'], { filename })
  t.same(plot.features, features)
  t.match(plot, { dirty: true, file: 'conflict' })
  await tool(place.url, ['debrief', 'save_plot'], { filename, on_conflict: 'overwrite' })
  await submit(place.url, 1)
  await tool(place.url, ['trm', 'undo'], { sid })
  await submit(place.url, 1)
  t.equal(readFileSync(join(project, 'value.py'), 'utf8'), 'VALUE = 0\n')
  await tool(place.url, ['trm', 'end'], { sid, apply: 'last' })
  t.equal(readFileSync(join(project, 'value.py'), 'utf8'), 'VALUE = 2\n')
  await checkAll(t, works, place, promisesOf(works))
  for (const work of works) await work.step(place)
  t.same(await second.server.stop(), { code: 0, signal: null })
})
