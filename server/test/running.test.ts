import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFolder, processIdentity } from '@causeway/store'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { findRunning, noteRunning, type ServerNote } from '../src/running.ts'
import { runHere } from './cli/run-here.ts'

const told = { url: 'http://127.0.0.1:1', version: '0.1.0', started_ms: 0, shutdown_ms: 100 }

/** Changes what a server wrote down. */
const rewrite = (dir: string, change: Partial<ServerNote>): void => {
  const file = join(dir, 'server.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
}

t.test('server.json: written for its user alone, found again, and taken back with the lock', async (t) => {
  const dir = join(t.testdir(), 'data')
  t.same(findRunning(dir), { state: 'none' })
  const lock = lockFolder(dir)
  t.same(findRunning(dir), { state: 'none' }, 'it does not serve yet')
  noteRunning(dir, told)
  t.match(findRunning(dir), { state: 'running', server: { ...told, pid: process.pid } })
  if (process.platform !== 'win32') t.equal(statSync(join(dir, 'server.json')).mode & 0o777, 0o600)
  lock.release()
  t.same(findRunning(dir), { state: 'none' })
})

t.test('server.json: another machine, and a text that no server wrote', async (t) => {
  const dir = t.testdir()
  noteRunning(dir, told)
  rewrite(dir, { host: 'another' })
  t.match(findRunning(dir), { state: 'elsewhere' })
  t.match((await runHere(t, ['stop', '--data-dir', dir])).stderr, /STOP_FAILED.*it runs on another/)
  t.equal((await runHere(t, ['status', '--port', '0', '--data-dir', dir])).code, 3)
  writeFileSync(join(dir, 'server.json'), '{"pid": "1"}')
  t.same(findRunning(dir), { state: 'none' })
})

verifies('command:stop:foreign', async (t) => {
  const dir = t.testdir()
  const foreign = spawn(process.execPath, [
    '-e',
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 9e9)',
  ])
  const pid = foreign.pid as number
  t.teardown(() => void foreign.kill('SIGKILL'))
  noteRunning(dir, told)
  rewrite(dir, { pid })
  t.match(findRunning(dir), { state: 'gone' })
  t.match(await runHere(t, ['stop', '--data-dir', dir]), { code: 0, stdout: /^not running/ })
  t.equal((await runHere(t, ['status', '--port', '0', '--data-dir', dir])).code, 3)
  t.ok(processIdentity(pid), 'it lives')

  rewrite(dir, { process: processIdentity(pid) as string })
  t.match(findRunning(dir), { state: 'running' }, 'were it the server, it would be found')
  foreign.kill('SIGKILL')
  await once(foreign, 'exit')
  t.match(findRunning(dir), { state: 'gone' })
})
