import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { chmodSync, fstatSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { spawnServer, startServer } from '../../test/e2e/server-process.ts'
import { verifies } from '../../test/verifies.ts'
import { openLog } from '../src/log/log.ts'
import { LogFiles } from '../src/log/log-files.ts'
import { formatWelcome } from '../src/process/welcome.ts'
import { both, initializeMessage, modern, rpc, toolCall } from './http/open-wire.ts'
import { soon } from './test-core.ts'

/** Returns names and texts of the files of a kind, oldest first. */
function readFiles(dir: string, name: string): { file: string; text: string }[] {
  const number = (file: string) => Number(/\.(\d+)\./.exec(file)?.[1])
  return readdirSync(`${dir}/logs`)
    .filter((file) => file.startsWith(`${name}.`))
    .sort((one, other) => number(one) - number(other))
    .map((file) => ({ file, text: readFileSync(`${dir}/logs/${file}`, 'utf8') }))
}

/** Returns the `line` field of each JSON line. */
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
  const all = readFiles(dir, 'server')
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
  const errors = readFiles(dir, 'error').flatMap(({ text }) => text.trimEnd().split('\n'))
  t.equal(errors.length, 20)
  t.ok(errors.every((line) => line.includes('"password":"[redacted]"')))
  t.match(readFiles(dir, 'audit')[0]?.file, /^audit\.\d+\.jsonl$/)
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
  const audits = () => readFiles(dir, 'audit').map(({ file }) => file)
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
    readFiles(dir, 'audit').flatMap(({ text }) => parseNumbers(text)),
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

verifies('log:files', 'a stopping server writes its last lines', async (t) => {
  const dir = t.testdir()
  const { url, server } = await startServer(t, { dir, env: { CAUSEWAY_LOG_FILES: 'true' } })
  const call = await fetch(`${url}/api/apps/causeway/tools/list_apps`, { method: 'POST' })
  t.equal(call.status, 200)
  await server.stop()
  const text = (name: string) =>
    readFiles(dir, name)
      .map((file) => file.text)
      .join('')
  t.match(text('server'), '"msg":"stopped"')
  t.match(JSON.parse(text('audit')), { toolName: 'list_apps', success: true, service: 'causeway' })
})

/** Starts a server, stops it when it is ready, and returns its standard error. */
async function startPretty(t: Test, dir: string, env: Readonly<Record<string, string>>): Promise<string> {
  const server = spawnServer(t, { dir, env })
  await server.log.first('the address', ({ text }) => String(text).startsWith('Causeway is ready at'))
  await server.stop()
  return server.stderr
}

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

t.test('StderrWriter drops lines above its limit if nothing reads', async (t) => {
  const child = startWriter('100000')
  // The writer is blocked, so it has dropped the lines above its limit.
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  const output = await text(child.stderr as NonNullable<typeof child.stderr>)
  t.ok(parseLineNumbers(output).length < 100_000)
})

const planted = (name: string): string => `planted-${name}-0123456789abcdef`

const secrets = [
  'token',
  'wrong-token',
  'key',
  'cookie',
  'argument',
  'unknown-argument',
  'session',
  'header',
].map(planted)

/** Sends secrets in every part of requests to every route. Returns the responses. */
async function requestEverything(url: string): Promise<string[]> {
  const fields = {
    authorization: `Bearer ${planted('token')}`,
    cookie: `id=${planted('cookie')}`,
    'causeway-session': planted('session'),
    'x-api-key': planted('header'),
  }
  const json = { ...fields, 'content-type': 'application/json' }
  const args = { password: planted('argument'), [planted('unknown-argument')]: 1 }
  const post = (path: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...json, ...more }, body: JSON.stringify(body) })
  const get = (path: string, more: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { headers: { ...fields, ...more } })
  const stateless = modern(toolCall('Causeway__list_apps', args))
  const responses = [
    await post('/mcp', rpc('ping')),
    await post('/mcp', initializeMessage(), both),
    await post('/mcp', stateless.body, stateless.headers),
    await post('/mcp', toolCall('Causeway__list_apps', { limit: planted('argument') })),
    await post('/mcp', rpc('no/such', { token: planted('argument') })),
    await post('/mcp/replay', toolCall('load_recording', { path: '/etc/shadow' })),
    await post('/api/apps/causeway/tools/list_apps', {}),
    await get('/api/apps/causeway/audit.jsonl'),
    await get('/api/apps'),
    await get('/health'),
    await get('/metrics'),
    await get('/openapi.json'),
    await get('/mcp', { authorization: `Bearer ${planted('wrong-token')}` }),
    await get('/health', { origin: 'https://evil.example' }),
    await get('/nowhere'),
  ]
  // An error may repeat the arguments of its own request.
  const repeatable = [planted('argument'), planted('unknown-argument')]
  const texts = await Promise.all(responses.map((response) => response.text()))
  return texts.map((text) => repeatable.reduce((shown, secret) => shown.replaceAll(secret, ''), text))
}

function checkNoSecrets(t: Test, place: string, text: string): void {
  for (const secret of secrets) t.notOk(text.includes(secret), `${place}: ${secret.split('-0')[0]}`)
}

verifies('log:secrets', async (t) => {
  const dir = t.testdir({ tokens: `${planted('token')} laptop\n` })
  chmodSync(`${dir}/tokens`, 0o600)
  const env = {
    EXTRA_LOGGING: 'true',
    CAUSEWAY_LOG_FILES: 'true',
    CAUSEWAY_TOKEN_FILE: `${dir}/tokens`,
    OPENROUTER_API_KEY: planted('key'),
  }
  const { url, server } = await startServer(t, { dir, env })
  for (const text of await requestEverything(url)) checkNoSecrets(t, 'a response', text)
  await server.stop()
  t.match(server.stderr, '[MCP]', 'protocol details are logged')
  checkNoSecrets(t, 'stdout', server.stdout)
  checkNoSecrets(t, 'stderr', server.stderr)
  const files = readdirSync(`${dir}/logs`)
  t.equal(files.length, 3)
  for (const file of files) checkNoSecrets(t, file, readFileSync(`${dir}/logs/${file}`, 'utf8'))
  // Closing a database file drops its locks, so the files are read after the server has stopped.
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.db')))
    for (const secret of [planted('token'), planted('key'), planted('argument'), planted('cookie')])
      t.notOk(readFileSync(`${dir}/${file}`).includes(secret), `${file}: ${secret}`)
})

verifies('log:format', async (t) => {
  const pretty = await startPretty(t, t.testdir(), { CAUSEWAY_LOG_FORMAT: 'pretty' })
  const lines = pretty.split('\n')
  t.match(lines[0], /^\[\d\d:\d\d:\d\d\] INFO: .+/, 'one readable line per entry')
  t.match(pretty, /\nCauseway is ready at http:\/\/127\.0\.0\.1:\d+\n/)
  t.match(pretty, /^ {2}apps +Causeway \d+, Replay \d+.*: \d+ tools$/m)
  t.match(pretty, /^ {2}connect +claude mcp add --transport http causeway http:\/\/127\.0\.0\.1:\d+\/mcp$/m)
  t.match(pretty, /^ {2}console +http:\/\/127\.0\.0\.1:\d+\/ in a browser$/m)
  t.match(pretty, /^ {2}try +causeway call replay list_recordings$/m)
})

verifies('log:format', 'log files are JSON, and the level applies to every log', async (t) => {
  const dir = t.testdir()
  const output = await startPretty(t, dir, { CAUSEWAY_LOG_FORMAT: 'pretty', CAUSEWAY_LOG_LEVEL: 'warn' })
  t.notMatch(output, 'INFO')
  t.same(
    readFiles(dir, 'server').map((file) => file.text),
    [''],
  )
  const again = t.testdir()
  await startPretty(t, again, { CAUSEWAY_LOG_FORMAT: 'pretty' })
  const [file] = readFiles(again, 'server')
  t.equal(JSON.parse(file?.text.split('\n')[0] ?? '').level, 30, 'file logs are on by default')
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
    t.match(text, '  try         npm start -- call replay list_recordings\n')
  },
)

t.test('the log redacts fields named like secrets at every depth', async (t) => {
  const lines: string[] = []
  const log = openLog({ extra: true, destination: { write: (line) => void lines.push(line) } })
  const secret = planted('key')
  log.info({ authorization: secret, headers: { authorization: secret, cookie: secret } }, 'a line')
  log.info({ request: { body: { apiKey: secret, api_key: secret, password: secret } } }, 'a line')
  log.error({ token: secret, settings: { secret } }, 'a line')
  t.notMatch(lines.join(''), secret)
  t.equal(lines.length, 3)
})
