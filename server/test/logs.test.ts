import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { fstatSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { openLog } from '../src/log/log.ts'
import { LogFiles } from '../src/log/log-files.ts'
import { formatWelcome } from '../src/process/welcome.ts'
import { readLogFiles, soon } from './test-core.ts'

const parseNumbers = (text: string): number[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).line)

verifies('log:files', 'rotation keeps the newest lines complete and in order', async (t) => {
  const dir = t.testdir()
  const bytes = 16 * 1024
  const files = new LogFiles(dir, { bytes, count: 5 })
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
  const all = readLogFiles(dir, 'server')
  t.equal(all.length, 5)
  t.ok(
    all.every(({ text }) => text.length <= bytes),
    'no file exceeds its size',
  )
  const kept = all.flatMap(({ text }) => parseNumbers(text))
  t.same(
    kept,
    Array.from({ length: kept.length }, (_, index) => lines - kept.length + index),
  )
  const errors = readLogFiles(dir, 'error').flatMap(({ text }) => text.trimEnd().split('\n'))
  t.equal(errors.length, 20)
  t.ok(errors.every((line) => line.includes('"password":"[redacted]"')))
  t.match(readLogFiles(dir, 'audit')[0]?.file, /^audit\.\d+\.jsonl$/)
  if (process.platform !== 'win32')
    for (const { file } of all) t.equal(statSync(`${dir}/logs/${file}`).mode & 0o077, 0, file)
})

verifies('log:files', 'a restarted server appends to the newest file until it is full', async (t) => {
  const dir = t.testdir({
    logs: { 'audit.2.jsonl': '', 'audit.10.jsonl': '{"line":0}\n', 'audit.10.jsonl.bak': '' },
  })
  const files = new LogFiles(dir, { bytes: 25, count: 2 })
  for (const line of [1, 2]) files.audit.write(`{"line":${line}}\n`)
  await files.close()
  t.same(
    readdirSync(`${dir}/logs`).filter((file) => file.startsWith('audit')),
    ['audit.10.jsonl', 'audit.10.jsonl.bak', 'audit.11.jsonl'],
  )
  t.same(
    ['audit.10.jsonl', 'audit.11.jsonl'].map((file) =>
      parseNumbers(readFileSync(`${dir}/logs/${file}`, 'utf8')),
    ),
    [[0, 1], [2]],
  )
})

verifies('log:files', 'a file that cannot be opened loses only its own lines', async (t) => {
  const dir = t.testdir({ logs: { 'error.1.log': {} } })
  const files = new LogFiles(dir, { bytes: 1024 ** 2, count: 2 })
  const log = openLog({ extra: false, destination: { write: () => {} }, files })
  log.error({ line: 1 }, 'lost in error.1.log')
  rmdirSync(`${dir}/logs/error.1.log`)
  log.error({ line: 2 }, 'written')
  await files.close()
  t.same(parseNumbers(readFileSync(`${dir}/logs/server.1.log`, 'utf8')), [1, 2])
  t.same(parseNumbers(readFileSync(`${dir}/logs/error.1.log`, 'utf8')), [2])
})

/** Makes every `fs.write` fail as on a full disk until `free` is called. */
function fillDisk(t: Test) {
  let isFull = true
  const files = new Set<number>()
  const { write } = fs
  const fake = (file: number, data: string, ...rest: unknown[]): void => {
    if (!isFull || data.length === 0) {
      Reflect.apply(write, fs, [file, data, ...rest])
      return
    }
    files.add(file)
    const done = rest.at(-1) as (error: Error, bytes: number) => void
    setImmediate(done, Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }), 0)
  }
  const mocked = mock.method(fs, 'write', fake as typeof fs.write)
  t.teardown(() => mocked.mock.restore())
  return {
    /** Descriptors of the files that could not be written. */
    files,
    free: () => {
      isFull = false
    },
  }
}

/** Resolves at the first failed write. */
const firstFailure = (files: LogFiles): Promise<unknown> =>
  soon(new Promise((resolve) => files.onFailure(resolve)))

verifies('log:files', 'no file is started or removed while the disk is full', async (t) => {
  const dir = t.testdir({ logs: { 'audit.1.jsonl': '{"line":-1}\n', 'audit.2.jsonl': '' } })
  const audits = () => readLogFiles(dir, 'audit').map(({ file }) => file)
  const disk = fillDisk(t)
  const files = new LogFiles(dir, { bytes: 16 * 1024, count: 2 })
  const failure = firstFailure(files)
  let lines = 0
  const write = (count: number): void => {
    for (let i = 0; i < count; i++)
      files.audit.write(`${JSON.stringify({ line: lines++, text: 'x'.repeat(1000) })}\n`)
  }
  write(5)
  t.match(await failure, { code: 'ENOSPC' })
  write(100)
  t.same(audits(), ['audit.1.jsonl', 'audit.2.jsonl'])

  disk.free()
  while (audits().length === 2 && !audits().includes('audit.3.jsonl')) {
    write(1)
    await nextTurn()
  }
  t.same(audits(), ['audit.2.jsonl', 'audit.3.jsonl'], 'the next file starts when writes succeed')
  await files.close()
  t.same(
    readLogFiles(dir, 'audit').flatMap(({ text }) => parseNumbers(text)),
    Array.from({ length: lines }, (_, line) => line),
    'buffered lines are written',
  )
})

verifies('log:files', 'a file whose lines cannot be written is closed', async (t) => {
  const disk = fillDisk(t)
  const files = new LogFiles(t.testdir(), { bytes: 16 * 1024, count: 2 })
  files.audit.write('{"line":0}\n')
  await files.close()
  t.equal(disk.files.size, 1)
  for (const file of disk.files) t.throws(() => fstatSync(file), { code: 'EBADF' })
})

const script = new URL('write-lines.ts', import.meta.url).pathname

function startWriter(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, ['--conditions=@causeway/source', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const parseLineNumbers = (output: string): number[] =>
  output
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map(Number.parseFloat)

t.test('StderrWriter writes every line in order, also before an immediate exit', async (t) => {
  for (const args of [['5000'], ['30', 'exit immediately']]) {
    const child = startWriter(...args)
    const output = text(child.stderr as NonNullable<typeof child.stderr>)
    await once(child, 'close')
    t.same(
      parseLineNumbers(await output),
      Array.from({ length: Number(args[0]) }, (_, line) => line),
      args.join(' '),
    )
  }
})

t.test('the process exits if nothing reads its stderr', async (t) => {
  const child = startWriter('5000')
  const output = text(child.stdout as NonNullable<typeof child.stdout>)
  const [code, signal] = await once(child, 'exit')
  t.ok(code === 0 || signal === 'SIGKILL', 'it is killed if a write is blocked')
  t.equal(await output, 'done')
})

t.test('the process exits if the reader of its stderr is gone', async (t) => {
  const child = startWriter('5000')
  child.stderr?.destroy()
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
})

t.test('StderrWriter drops lines beyond its limit while nothing reads stderr', async (t) => {
  const child = startWriter('100000')
  // The writer is blocked, so it has dropped the lines above its limit.
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  const output = await text(child.stderr as NonNullable<typeof child.stderr>)
  t.ok(parseLineNumbers(output).length < 100_000)
})

t.test(
  'the welcome text lists failed apps with their remedy, and uses npm start in a checkout',
  async (t) => {
    const error = new CausewayError('INVALID_APP', 'it has no name', { remedy: 'name it' })
    const started = {
      url: 'http://127.0.0.1:3100',
      apps: [{ name: 'Replay', tools: 2 }],
      failures: [{ name: './mine.ts', error }],
      recordingRoots: ['/a', '/b'],
      plotRoots: [],
      dataDir: '/data',
    }
    const env = { npm_lifecycle_event: 'start', npm_package_name: 'causeway-workspace' }
    const text = formatWelcome(started, env)
    t.match(text, '  failed      ./mine.ts: it has no name; name it\n')
    t.match(text, '  recordings  /a\n              /b\n  data        /data\n')
    t.match(text, '  try         npm start -s -- call replay list_recordings\n')
  },
)

for (const extra of [true, false])
  t.test(`the log redacts fields named like secrets inside up to two objects, extra: ${extra}`, async (t) => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const log = openLog({ extra, level: 'debug', destination })
    const secret = 'planted-0123456789abcdef'
    log.info({ authorization: secret, headers: { authorization: secret, cookie: secret } }, 'a line')
    log.info({ request: { body: { apiKey: secret, api_key: secret, password: secret } } }, 'a line')
    log.error({ token: secret, settings: { secret } }, 'a line')
    t.notMatch(lines.join(''), secret)
    t.equal(lines.length, 3)
  })
