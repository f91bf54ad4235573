import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { createRunViews } from '../src/recorder/run-views.ts'
import { libraryOver } from './library-kit.ts'
import { bodyOf, frameLines, runLine } from './run-lines.ts'

t.test('createRunViews: a condition on frame_id reads those frames alone', async (t) => {
  const dir = t.testdir({ data: {}, files: {} })
  const library = await libraryOver(t, join(dir, 'files'), { dir: join(dir, 'data') })
  await library.recorder.write('run', bodyOf([runLine, ...frameLines(1, 60)]))
  await library.recorder.finish('run')
  const file = join(dir, 'data', 'recordings', 'run.db')
  const db = new Database(file, { readonly: true })
  t.teardown(() => db.close())
  createRunViews(db, file)
  for (const view of ['v_frame', 'v_state', 'v_contact', 'v_friction', 'v_energy', 'v_solver']) {
    const ids = (where: string) =>
      db.prepare<[], number>(`SELECT DISTINCT frame_id FROM ${view} WHERE ${where}`).pluck().all()
    const plan = (where: string) =>
      db
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN SELECT * FROM ${view} WHERE ${where}`)
        .all()
        .map(({ detail }) => detail)
        .join('; ')
    t.same(ids('frame_id BETWEEN 30 AND 31 AND frame_id <> 31'), ids('frame_id = 30'), view)
    t.match(plan('frame_id = 30'), /SEARCH f USING INTEGER PRIMARY KEY \(rowid=\?\)/, view)
    t.match(plan('frame_id > 30'), /SEARCH f USING INTEGER PRIMARY KEY \(rowid>\?\)/, view)
  }
  const joined = db
    .prepare<[], number>(
      `SELECT count(*) FROM v_state a JOIN v_state b ON a.frame_id = b.frame_id WHERE a.body_id = b.body_id`,
    )
    .pluck()
    .get()
  t.equal(
    joined,
    db.prepare<[], number>('SELECT count(*) FROM v_state').pluck().get(),
    'a view joined to itself',
  )
})
