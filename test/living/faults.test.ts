/** Full and read-only disks, and clocks that jump, for every store. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMetaKey } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { errorDefinitions } from '../../scripts/docs/makers.ts'
import { apps } from '../../server/src/apps.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { until } from '../e2e/condition.ts'
import { getJson, postMcp } from '../e2e/http.ts'
import { fromSource, recordings, spawnServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, createWorks, mergeSettings, readPromised, runWorks } from './all-works.ts'
import { copyReleasedFiles, findOwner, latestVersion } from './released.ts'
import { CallError, tool } from './work.ts'

t.setTimeout(240_000)

/** Starts the server without root's permission to ignore file modes. */
const boundByModes = [
  '-c',
  `unset NODE_OPTIONS; [ $(id -u) = 0 ] && bound="setpriv --bounding-set -dac_override,-dac_read_search --"; exec $bound "$0" "$@"`,
  process.execPath,
  ...fromSource,
]

verifies('fault:read-only', async (t) => {
  // Not in the checkout, which may belong to a different user.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-read-only-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  copyReleasedFiles(latestVersion, dir)
  const locked = ['minds.db', 'trm.db', 'debrief.db', 'replay.db']
  const before = new Map(locked.map((path) => [path, readFileSync(join(dir, path))]))
  for (const path of locked) chmodSync(join(dir, path), 0o400)
  const start = { dir, command: 'bash', program: boundByModes }
  const { url, server } = await startServer(t, start)
  const { json } = await getJson(url, '/health')
  for (const path of locked)
    t.match(json.apps[findOwner(path)], { status: 'failed', reason: 'DATA_UNWRITABLE' }, path)
  t.match(json.apps, { Causeway: { status: 'ok' }, Help: { status: 'ok' }, ToolVault: { status: 'ok' } })
  const response = await postMcp(url, 'tools/call', { name: 'Minds__list_minds', arguments: {} })
  t.match(response.json.result._meta[errorMetaKey], {
    code: 'APP_UNAVAILABLE',
    remedy: /permissions/,
    data: { reason: 'DATA_UNWRITABLE' },
  })
  await server.stop()
  for (const [path, bytes] of before)
    t.ok(readFileSync(join(dir, path)).equals(bytes), `${path} is unchanged`)

  chmodSync(join(dir, 'server.db'), 0o400)
  const second = spawnServer(t, start)
  t.match(await second.exited, { code: 1 })
  t.match(second.stderr, /^causeway: .*server\.db \[DATA_UNWRITABLE\]\n.*permissions/m)
})

/** Shell commands that start the server in a folder that cannot be written. */
const unwritable: Readonly<Record<string, { readonly mode: number; readonly program: readonly string[] }>> = {
  'a read-only folder': { mode: 0o500, program: boundByModes },
  'a full disk': {
    mode: 0o700,
    program: [
      '-c',
      `unset NODE_OPTIONS; trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`,
      process.execPath,
      ...fromSource,
    ],
  },
}

for (const [name, { mode, program }] of Object.entries(unwritable))
  verifies('fault:read-only', `${name} fails the start and leaves the files unchanged`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'causeway-nothing-'))
    t.teardown(() => {
      chmodSync(dir, 0o700)
      rmSync(dir, { recursive: true, force: true })
    })
    const files = copyReleasedFiles(latestVersion, dir)
    const before = files.map((path) => readFileSync(join(dir, path)))
    chmodSync(dir, mode)
    const server = spawnServer(t, { dir, command: 'bash', program })
    t.match(await server.exited, { code: 1 })
    t.match(server.stderr, /^causeway: .* \[DATA_UNWRITABLE\]\n.*free disk space and check the permissions/m)
    for (const [index, path] of files.entries())
      t.ok(readFileSync(join(dir, path)).equals(before[index] as Buffer), `${path} is unchanged`)
  })

verifies('fault:disk-full', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = createWorks(root)
  const env = mergeSettings(works)
  for (const work of works) work.before?.()
  const first = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url: first.url, dir })
  for (const work of works) await work.step({ url: first.url, dir })
  await first.server.stop()

  // A write beyond 640 KiB fails as on a full disk. Its signal is ignored, and NODE_OPTIONS is removed because the test
  // runner's preloaded code would exit on that signal.
  const limit = [
    '-c',
    `unset NODE_OPTIONS; trap '' XFSZ; ulimit -f 640; exec "$0" "$@"`,
    process.execPath,
    ...fromSource,
  ]
  const { url, server } = await startServer(t, {
    dir,
    env,
    command: 'bash',
    program: limit,
  })
  const enough = new AbortController()
  const timer = setTimeout(() => enough.abort(), 20_000)
  const { failures, steps } = await runWorks(works, { url, dir }, { signal: enough.signal })
  clearTimeout(timer)
  const codes = failures.map((error) =>
    error instanceof CallError ? error.response.json.code : String(error),
  )
  t.comment(`steps before the disk was full: ${JSON.stringify(steps)}; then ${codes.join(', ')}`)
  t.ok(codes.length >= 3, 'several stores reached the limit')
  t.same(
    codes.filter((code) => !Object.hasOwn(errorDefinitions, code) || code === 'INTERNAL'),
    [],
    'every error has a code',
  )
  t.match(
    await getJson(url, '/health'),
    { status: 200, json: { status: 'degraded', storage: { status: 'full', reason: 'EFBIG' } } },
    'the server keeps running and reports the full disk',
  )
  server.process.kill('SIGKILL')
  await server.exited
  checkFiles(t, dir)
  const again = await startServer(t, { dir, env })
  // The audit of calls on the full disk was only in memory.
  const promised = new Map(readPromised(works))
  promised.set('server', { choice: undefined, requests: [] })
  await checkAll(t, works, { url: again.url, dir }, promised)
  await again.server.stop()
})

/** Mounts a file system of this size in the temporary folder. Returns `undefined` if the user is not allowed to mount it. */
function mountSmallDisk(t: Test, size: string): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir])
  t.teardown(() => {
    if (status === 0) spawnSync('umount', ['--lazy', dir])
    rmSync(dir, { recursive: true, force: true })
  })
  return status === 0 ? dir : undefined
}

/** Writes a file until the disk is full. */
function fillDisk(file: string): void {
  const filler = openSync(file, 'w')
  for (const size of [2 ** 20, 4096, 1])
    try {
      for (;;) writeSync(filler, Buffer.alloc(size))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  closeSync(filler)
}

verifies('fault:disk-full:health', async (t) => {
  const disk = mountSmallDisk(t, '24m')
  if (disk === undefined) {
    t.pass('the disk is full', { skip: 'mounting a small file system requires root' })
    return
  }
  const dir = join(disk, 'data')
  mkdirSync(dir)
  const { url, server } = await startServer(t, { dir, env: { CAUSEWAY_RATE_LIMITS: 'off' } })
  const createMind = (mind_id: string) =>
    tool(url, ['minds', 'create_mind'], { mind_id, config: { traits: [] } })
  const health = async () => (await getJson(url, '/health')).json
  await createMind('before')
  t.match(await health(), { status: 'ok', storage: { status: 'ok' } })

  fillDisk(join(disk, 'filler'))
  for (let i = 0; i < 3; i++) await createMind(`during-${i}`).catch(() => undefined)
  t.match(await health(), { status: 'degraded', storage: { status: 'full', reason: 'ENOSPC' } })
  t.match(await health(), { status: 'degraded', storage: { status: 'full' } }, 'the disk is still full')

  rmSync(join(disk, 'filler'))
  t.match(await health(), { status: 'ok', storage: { status: 'ok' } }, 'the disk has space again')
  await createMind('after')
  const { minds } = await tool(url, ['minds', 'list_minds'], {})
  const ids = minds.map(({ mind_id }: { mind_id: string }) => mind_id)
  t.ok(ids.includes('before') && ids.includes('after'))
  t.match((await getJson(url, '/api/apps/causeway/audit?tool=create_mind')).json.entries, { length: 5 })
  t.same(await server.stop(), { code: 0, signal: null })
})

verifies('fault:open-files', async (t) => {
  const { url, server } = await startServer(t, {
    dir: t.testdir(),
    env: { CAUSEWAY_RECORDING_ROOTS: recordings, CAUSEWAY_HELP_BUILD: 'false' },
  })
  const pid = server.process.pid as number
  // Its connection is open before the limit is reached.
  const client = new Pool(url, { connections: 1 })
  t.teardown(() => client.destroy())
  const ask = async (path: string, body?: string) => {
    const headers = { 'content-type': 'application/json' }
    const method = body === undefined ? 'GET' : 'POST'
    const response = await client.request({ path: `/api/apps/${path}`, method, headers, body: body ?? null })
    return { status: response.statusCode, json: JSON.parse(await response.body.text()) }
  }
  const list = () => ask('replay/tools/list_recordings', '{}')
  const countSamples = async () => (await ask('causeway/figures')).json.samples.length
  t.match(await list(), { status: 200 })
  const record = (name: string) => ask(`replay/recordings/${name}/frames`, '{"frame_id": 1, "bodies": []}\n')
  // Its worker waits for the next recording.
  t.match(await record('one'), { json: { accepted: 1 } })
  t.match(await ask('replay/recordings/one/finish', ''), { status: 200 })
  const limitFiles = (count: number) => spawnSync('prlimit', [`--pid=${pid}`, `--nofile=${count}:`]).status
  // Descriptors above the limit stay open. A new one gets the lowest free number, so none can be opened.
  t.equal(limitFiles(3), 0)
  const overloaded = { status: 503, json: { code: 'OVERLOADED', remedy: /ulimit -n/ } }
  t.match(await until(list, ({ status }) => status !== 200), overloaded)
  t.match(await record('two'), overloaded, 'the waiting worker cannot open the file')
  t.match(await record('two'), overloaded, 'another worker cannot start')
  const before = await countSamples()
  await until(countSamples, (samples) => samples > before)
  t.ok((await list()).status === 503, 'the server still runs after it sampled its memory')

  t.equal(limitFiles(1024), 0)
  await until(list, ({ status }) => status === 200)
  t.match(await record('two'), { json: { accepted: 1 } })
  t.same(await server.stop(), { code: 0, signal: null })
})

verifies('fault:clock', async (t) => {
  const start = Date.UTC(2026, 0, 10)
  let nowMs = start
  const dir = t.testdir({ plots: {} })
  const core = await openTestCore(t, apps, {
    dir,
    now: () => nowMs,
    log: captureLog('silent').log,
    env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_RATE_LIMITS: '*=0.001/3' },
  })
  const day = 86_400_000
  const remember = (id: string, sessionKey = 'one') =>
    call(
      core,
      'Minds__create_mind',
      { mind_id: id, config: { traits: [] }, request_id: `make ${id}` },
      { sessionKey },
    )
  t.match((await remember('a')).structuredContent, { status: 'created' })
  nowMs -= 2 * day
  t.match((await remember('b', 'two')).structuredContent, { status: 'created' })
  t.match(
    (await remember('a', 'three')).structuredContent,
    { status: 'created', replayed: true },
    'a repeat is detected although the first call is in the future',
  )
  nowMs += 5 * day
  t.match((await remember('c', 'two')).structuredContent, { status: 'created' })
  const names = (await core.audit.query({ app: 'Minds', limit: 10 })).map(({ id }) => id)
  t.same(names, [4, 3, 2, 1], 'audit entries are in the order of the calls')
  for (let i = 0; i < 3; i++) await call(core, 'Minds__list_minds', {}, { sessionKey: 'four' })
  nowMs += 30 * day
  t.match(
    await call(core, 'Minds__list_minds', {}, { sessionKey: 'four' }),
    { isError: true, _meta: { [errorMetaKey]: { code: 'RATE_LIMITED' } } },
    'a jump does not refill a rate limit',
  )
  nowMs = start
  t.match(
    (await call(core, 'Minds__list_minds', {}, { sessionKey: 'five' })).structuredContent,
    { minds: [{ mind_id: 'a' }, { mind_id: 'b' }, { mind_id: 'c' }] },
    'a jump back does not use up a rate limit',
  )
})

verifies('fault:clock', 'a repeat is detected after the clock is set forward by an hour', async (t) => {
  let nowMs = Date.UTC(2026, 0, 10)
  const core = await openTestCore(t, apps, {
    now: () => nowMs,
    monotonicNow: () => 0,
    log: captureLog('silent').log,
    env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_RECORDING_ROOTS: recordings },
  })
  const twice = async (tool: string, args: object) => {
    const callOnce = async () => (await call(core, tool, args, { requestId: 'again' })).structuredContent
    const first = await callOnce()
    nowMs += 3_600_000
    return [first, await callOnce()] as const
  }
  const note = { recording: 'slide_at_45', frame_id: 45, note: 'body 1 begins to slide' }
  const [once, again] = await twice('Replay__bookmark', note)
  t.match(once, { bookmarks: { length: 1 } })
  t.match(again, { bookmarks: { length: 1 } })
  const mind = { mind_id: 'ada', config: { traits: [] }, request_id: 'make ada' }
  const [made, repeated] = await twice('Minds__create_mind', mind)
  t.match(made, { status: 'created' })
  t.match(repeated, { status: 'created', replayed: true })
})
