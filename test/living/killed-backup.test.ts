/** Backups of a real server that take their time: as tasks, and cut short by a kill. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFolder } from '@causeway/store'
import t, { type Test } from 'tap'
import { runHere } from '../../server/test/cli/run-here.ts'
import { modern, rpc, toolCall } from '../../server/test/http/open-wire.ts'
import { until } from '../e2e/condition.ts'
import { postJson } from '../e2e/http.ts'
import { fromSource, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { tool } from './work.ts'

t.setTimeout(300_000)

/** A data folder with a file that takes so long to copy that a kill comes before its end. */
function slowFolder(t: Test): string {
  const dir = join(t.testdir({ data: { recordings: {} } }), 'data')
  const file = join(dir, 'large.bin')
  writeFileSync(file, '')
  truncateSync(file, 256 * 2 ** 20)
  return dir
}

verifies('backup:task', async (t) => {
  const dir = slowFolder(t)
  const { url } = await startServer(t, { dir, env: { CAUSEWAY_APPS: 'Causeway' } })
  const say = async (message: ReturnType<typeof rpc>) => {
    const { body, headers } = modern(message)
    const { _meta } = body.params as { _meta: Record<string, unknown> }
    _meta['io.modelcontextprotocol/clientCapabilities'] = {
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    }
    const { taskId } = (message.params ?? {}) as { taskId?: string }
    const named = taskId === undefined ? headers : { ...headers, 'mcp-name': taskId }
    const { json } = await postJson(url, '/mcp', body, { headers: named })
    return json.result
  }
  const task = await say(toolCall('Causeway__make_backup', { name: 'behind' }))
  t.match(task, { resultType: 'task', status: 'working' })
  const done = await until(
    () => say(rpc('tasks/get', { taskId: task.taskId })),
    ({ status }) => status !== 'working',
  )
  t.match(done, { status: 'completed', result: { structuredContent: { name: 'behind' } } })
  t.ok(existsSync(join(dir, 'backups/behind/causeway-backup.json')))
  t.same(readdirSync(join(dir, 'backups/behind')).sort(), ['causeway-backup.json', 'data'])
})

verifies('backup:killed', async (t) => {
  const dir = slowFolder(t)
  const env = { CAUSEWAY_APPS: 'Causeway' }
  const backups = join(dir, 'backups')
  const { url, server } = await startServer(t, { dir, env })
  const making = tool(url, ['causeway', 'make_backup'], { name: 'cut' })
  await until(async () => existsSync(join(backups, 'cut.part/data')), Boolean)
  server.process.kill('SIGKILL')
  await t.rejects(making)
  await server.exited
  t.ok(existsSync(join(backups, 'cut.part')), 'what was copied is there')

  // Another program, here this one, makes a backup into the same folder.
  mkdirSync(join(backups, 'other.part'))
  const other = lockFolder(join(backups, 'other.part'))
  t.teardown(() => other.release())
  const again = await startServer(t, { dir, env })
  t.match(await again.server.saw('backups that were never complete were removed'), { gone: ['cut.part'] })
  t.same(readdirSync(backups), ['other.part'])
  t.same((await tool(again.url, ['causeway', 'list_backups'], {})).backups, [])
  await tool(again.url, ['causeway', 'make_backup'], { name: 'cut' })
  t.match(await tool(again.url, ['causeway', 'list_backups'], {}), { backups: [{ name: 'cut' }] })
})

verifies('backup:restore-cut-short', 'killed while it copies', async (t) => {
  const dir = slowFolder(t)
  const [backup, fresh] = [join(dir, '../backup'), join(dir, '../fresh')]
  const { code } = await runHere(t, ['backup', backup, '--data-dir', dir])
  t.equal(code, 0)
  const restore = ['restore', backup, '--data-dir', fresh]
  const killed = spawn(process.execPath, [...fromSource, ...restore], { stdio: 'ignore' })
  const ended = once(killed, 'exit')
  await until(async () => existsSync(`${fresh}.restoring/large.bin`), Boolean)
  killed.kill('SIGKILL')
  t.same(await ended, [null, 'SIGKILL'])
  t.ok(existsSync(`${fresh}.restoring`), 'what was copied is there')
  t.match(await runHere(t, ['serve', '--data-dir', fresh, '--port', '0']), {
    code: 1,
    stderr: /RESTORE_UNFINISHED/,
  })
  t.match(await runHere(t, restore), { code: 0, stderr: '' })
  t.same(readdirSync(join(fresh, '..')).sort(), ['backup', 'data', 'fresh'])
  await startServer(t, { dir: fresh, env: { CAUSEWAY_APPS: 'Causeway' } })
})
