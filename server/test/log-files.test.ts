import { readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
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

/** The `line` field of each JSON line. */
const numbers = (text: string): number[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).line)

verifies('log:files', 'rotation keeps the newest lines complete and in order', async (t) => {
  const dir = t.testdir()
  const bytes = 16 * 1024
  const files = openLogFiles(dir, { bytes, count: 5 })
  const seen: string[] = []
  const log = openLog({ extra: false, destination: { write: (line) => void seen.push(line) }, files })
  const lines = 2000
  for (let line = 0; line < lines; line++) {
    if (line % 100 === 0) log.error({ line, password: 'planted' }, 'an error')
    else log.info({ line, text: 'x'.repeat(40) }, 'a line')
    files.audit.write(`{"line":${line}}\n`)
  }
  await files.close()
  t.equal(seen.length, lines, 'stderr receives every line')
  const all = filesOf(dir, 'server')
  t.equal(all.length, 5)
  t.ok(
    all.every(({ text }) => text.length <= bytes),
    'no file exceeds its size',
  )
  const kept = all.flatMap(({ text }) => numbers(text))
  t.same(
    kept,
    Array.from({ length: kept.length }, (_, index) => lines - kept.length + index),
  )
  const errors = filesOf(dir, 'error').flatMap(({ text }) => text.trimEnd().split('\n'))
  t.equal(errors.length, 20)
  t.ok(errors.every((line) => line.includes('"password":"[redacted]"')))
  t.match(filesOf(dir, 'audit')[0]?.file, /^audit\.\d+\.jsonl$/)
  if (process.platform !== 'win32')
    for (const { file } of all) t.equal(statSync(`${dir}/logs/${file}`).mode & 0o077, 0, file)
})

verifies('log:files', 'a restarted server appends to the newest file until it is full', async (t) => {
  const dir = t.testdir({
    logs: { 'audit.2.jsonl': '', 'audit.10.jsonl': '{"line":0}\n', 'audit.10.jsonl.bak': '' },
  })
  const files = openLogFiles(dir, { bytes: 25, count: 2 })
  for (const line of [1, 2]) files.audit.write(`{"line":${line}}\n`)
  await files.close()
  t.same(
    readdirSync(`${dir}/logs`).filter((file) => file.startsWith('audit')),
    ['audit.10.jsonl', 'audit.10.jsonl.bak', 'audit.11.jsonl'],
  )
  t.same(
    ['audit.10.jsonl', 'audit.11.jsonl'].map((file) => numbers(readFileSync(`${dir}/logs/${file}`, 'utf8'))),
    [[0, 1], [2]],
  )
})

verifies('log:files', 'a file that cannot be opened loses its lines and nothing else', async (t) => {
  const dir = t.testdir({ logs: { 'error.1.log': {} } })
  const files = openLogFiles(dir, { bytes: 1024 ** 2, count: 2 })
  const log = openLog({ extra: false, destination: { write: () => {} }, files })
  log.error({ line: 1 }, 'lost in error.1.log')
  rmdirSync(`${dir}/logs/error.1.log`)
  log.error({ line: 2 }, 'written')
  await files.close()
  t.same(numbers(readFileSync(`${dir}/logs/server.1.log`, 'utf8')), [1, 2])
  t.same(numbers(readFileSync(`${dir}/logs/error.1.log`, 'utf8')), [2])
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
