import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { DataPart } from '@causeway/app-kit'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { bytesOf, dataOf, eraseData, forgetClients } from '../../src/cli/erase-data.ts'
import { openServerStore } from '../../src/server-store.ts'

const parts: readonly DataPart[] = [
  { path: 'cache/', kind: 'passing' },
  { path: 'runs/*.db', kind: 'database' },
  { path: 'runs/*-notes', kind: 'files' },
  { path: 'own.db', kind: 'database' },
]

verifies(
  'command:data:erase',
  'its files, folders and patterns, with what SQLite keeps beside them',
  async (t) => {
    const root = t.testdir({
      outside: { kept: 'x' },
      data: {
        cache: { deep: { a: '12345' } },
        runs: { 'one.db': '1', 'one.db-wal': '2', 'one-notes': '3', 'other.txt': '4' },
        'own.db': 'x',
        'own.db-shm': 'x',
        'own.db.initialized': 'x',
        'own.database': 'x',
      },
    })
    const dir = join(root, 'data')
    symlinkSync(join(root, 'outside'), join(dir, 'cache/link'))
    const paths = dataOf(dir, parts)
    t.same(paths, [
      'cache',
      'own.db',
      'own.db-shm',
      'own.db.initialized',
      'runs/one-notes',
      'runs/one.db',
      'runs/one.db-wal',
    ])
    t.ok(bytesOf(join(dir, 'cache')) >= 5)
    t.equal(bytesOf(join(dir, 'nowhere')), 0)
    eraseData(dir, paths)
    t.same(readdirSync(dir).sort(), ['own.database', 'runs'])
    t.same(readdirSync(join(dir, 'runs')), ['other.txt'])
    t.equal(readFileSync(join(root, 'outside/kept'), 'utf8'), 'x', 'links are not followed')
    t.same(dataOf(dir, parts), [])
  },
)

t.test('eraseData: a folder that is empty then goes too', async (t) => {
  const dir = t.testdir({ runs: { 'one.db': '1' } })
  eraseData(dir, dataOf(dir, parts))
  t.notOk(existsSync(join(dir, 'runs')))
})

verifies(
  'command:data:erase',
  'the state of clients in the app is forgotten, in others it stays',
  async (t) => {
    const dir = t.testdir()
    forgetClients(dir, 'Minds')
    t.same(readdirSync(dir), [], 'where there is no server.db, none is made')
    const open = () => openServerStore(join(dir, 'server.db'), { now: Date.now })
    const before = await open()
    await before.states.save('me', 'Minds', '{"mind":"a"}')
    await before.states.save('me', 'Replay', '{"recording":"r"}')
    await before.close()
    forgetClients(dir, 'Minds')
    const after = await open()
    t.teardown(() => after.close())
    t.equal(await after.states.load('me', 'Minds'), undefined)
    t.equal(await after.states.load('me', 'Replay'), '{"recording":"r"}')
  },
)
