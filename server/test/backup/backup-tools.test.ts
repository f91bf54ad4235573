import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { demoApp } from '../demo-app.ts'
import { call, openTestCore } from '../test-core.ts'

verifies('backup:tool', async (t) => {
  const dir = t.testdir()
  const core = await openTestCore(t, [demoApp().app], { dir })
  const make = (args: object, requestId: string, more: object = {}) =>
    call(core, 'Causeway__make_backup', args, { requestId, ...more })
  const seen: number[] = []
  const progress = (done: number): void => void seen.push(done)
  const first = await make({ name: 'first' }, 'request-a', { progress })
  const { folder } = first.structuredContent as { folder: string }
  t.equal(folder, join(dir, 'data', 'backups', 'first'))
  t.match(first.structuredContent, { name: 'first', files: 1, summary: /causeway restore .*first/ })
  t.ok(existsSync(join(folder, 'data/server.db')))
  t.ok(seen.length > 0, 'progress is reported')
  t.same(
    (await make({}, 'request-a')).structuredContent,
    first.structuredContent,
    'a repetition returns the same backup',
  )
  t.match(await make({ name: 'first' }, 'request-b'), {
    isError: true,
    _meta: { 'causeway/error': { code: 'DATA_EXISTS' } },
  })
  t.match(await make({ name: '../out' }, 'request-c'), {
    isError: true,
    _meta: { 'causeway/error': { code: 'INVALID_ARGUMENTS' } },
  })
  const both = await Promise.all([make({}, 'request-d'), make({}, 'request-e'), make({}, 'request-d')])
  t.same(both[2], both[0], 'concurrent repetitions return the same backup')
  t.match(both[1], { isError: true, _meta: { 'causeway/error': { code: 'OVERLOADED' } } })
  const controller = new AbortController()
  controller.abort(new Error('gone'))
  t.match(await make({ name: 'never' }, 'request-f', { cancellation: controller }), { isError: true })
  t.match((await call(core, 'Causeway__list_backups')).structuredContent, {
    backups: [{ name: /^\d{4}-/ }, { name: 'first' }],
    summary: /^2 backups/,
  })
  t.equal(readdirSync(join(dir, 'data', 'backups')).length, 2, 'no other folder remains')
})

verifies('backup:foreign-part', async (t) => {
  const foreign = {
    'theirs.part': { 'half.bin': 'of another program' },
    'empty.part': {},
    'moved.part': { 'server.lock': '', 'server.db': 'a data folder with that name' },
  }
  const dir = t.testdir({ disk: { ...foreign, 'ours.part': { 'server.lock': '', data: { half: 'x' } } } })
  const disk = join(dir, 'disk')
  const core = await openTestCore(t, [demoApp().app], { dir, env: { CAUSEWAY_BACKUP_DIR: disk } })
  const make = (name: string) => call(core, 'Causeway__make_backup', { name }, { requestId: name })
  t.match(await make('first'), { structuredContent: { name: 'first' } }, 'after removing abandoned backups')
  t.same(readdirSync(disk).sort(), ['empty.part', 'first', 'moved.part', 'theirs.part'])
  for (const name of ['theirs', 'moved'])
    t.match(await make(name), { isError: true, _meta: { 'causeway/error': { code: 'DATA_EXISTS' } } })
  t.match(await make('second.part'), {
    isError: true,
    _meta: { 'causeway/error': { code: 'INVALID_ARGUMENTS', remedy: /\.part/ } },
  })
  for (const [folder, files] of Object.entries(foreign))
    t.same(readdirSync(join(disk, folder)).sort(), Object.keys(files).sort(), `${folder} is unchanged`)
})

verifies('backup:tool', 'a nightly request with the same id makes a new backup every night', async (t) => {
  let nowMs = Date.parse('2026-01-01T03:00:00Z')
  const core = await openTestCore(t, [demoApp().app], { now: () => nowMs })
  const runNightlyBackup = async () => {
    const { structuredContent } = await call(core, 'Causeway__make_backup', {}, { requestId: 'nightly' })
    return structuredContent?.made_at
  }
  t.equal(await runNightlyBackup(), '2026-01-01T03:00:00.000Z')
  nowMs += 9 * 60_000
  t.equal(await runNightlyBackup(), '2026-01-01T03:00:00.000Z', 'a repetition')
  nowMs = Date.parse('2026-01-02T03:00:00Z')
  t.equal(await runNightlyBackup(), '2026-01-02T03:00:00.000Z')
})
