import { readdirSync, readFileSync, statSync } from 'node:fs'
import { startServer } from '../../test/e2e/server-process.ts'
import { verifies } from '../../test/verifies.ts'
import { openLog } from '../src/log.ts'
import { openLogFiles } from '../src/log-files.ts'

/** Name and text of the files of a kind, oldest first. */
function filesOf(dir: string, name: string): { file: string; text: string }[] {
  const number = (file: string) => Number(/\.(\d+)\./.exec(file)?.[1])
  return readdirSync(`${dir}/logs`)
    .filter((file) => file.startsWith(`${name}.`))
    .sort((one, other) => number(one) - number(other))
    .map((file) => ({ file, text: readFileSync(`${dir}/logs/${file}`, 'utf8') }))
}

verifies('log:files', async (t) => {
  const dir = t.testdir()
  const files = await openLogFiles(dir, { bytes: 16 * 1024, count: 5 })
  const seen: string[] = []
  const log = openLog({ extra: false, destination: { write: (line) => void seen.push(line) }, files })
  const lines = 2000
  for (let line = 0; line < lines; line++) {
    if (line % 100 === 0) log.error({ line, password: 'planted' }, 'an error')
    else log.info({ line, text: 'x'.repeat(40) }, 'a line')
    files.audit.write(`{"line":${line}}\n`)
    // The disk gets a turn, as it does between calls.
    if (line % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await files.close()
  t.equal(seen.length, lines, 'stderr as before')
  const all = filesOf(dir, 'server')
  t.ok(all.length > 1 && all.length <= 5, `${all.length} files`)
  const kept = all.flatMap(({ text }) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).line),
  )
  t.same(
    kept,
    Array.from({ length: kept.length }, (_, index) => lines - kept.length + index),
    'the last ones, whole',
  )
  const errors = filesOf(dir, 'error').flatMap(({ text }) => text.trimEnd().split('\n'))
  t.equal(errors.length, 20)
  t.ok(errors.every((line) => line.includes('"password":"[redacted]"')))
  t.match(filesOf(dir, 'audit')[0]?.file, /^audit\.\d+\.jsonl$/)
  if (process.platform !== 'win32')
    for (const { file } of all) t.equal(statSync(`${dir}/logs/${file}`).mode & 0o077, 0, file)
})

verifies('log:files', 'of a server, with what was logged last', async (t) => {
  const dir = t.testdir()
  const { url, server } = await startServer(t, { dir, env: { CAUSEWAY_LOG_FILES: 'true' } })
  const call = await fetch(`${url}/api/apps/causeway/tools/list_apps`, { method: 'POST' })
  t.equal(call.status, 200)
  await server.stop()
  const text = (name: string) =>
    filesOf(dir, name)
      .map((file) => file.text)
      .join('')
  t.match(text('server'), '"msg":"stopped"')
  t.match(JSON.parse(text('audit')), { toolName: 'list_apps', success: true, service: 'causeway' })
})
