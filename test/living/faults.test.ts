/** Disks that are full or cannot be written, files that are damaged, clocks that jump: for every store. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codes, errorMetaKey } from '@causeway/protocol'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { apps } from '../../server/src/apps.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { getJson, postMcp } from '../e2e/http.ts'
import { fromSource, recordings, spawnServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, everyWork, live, promisesOf, settingsOf } from './lives.ts'
import { layOut, releasedVersions } from './released.ts'
import { Refused } from './work.ts'

t.setTimeout(240_000)

const version = releasedVersions.at(-1) ?? ''

/** A question to each store that its file must answer, by the path of the file; the app stands before `__`. */
const questions: Readonly<Record<string, readonly [tool: string, args: object]>> = {
  'recordings.db': ['Replay__list_recordings', {}],
  'recordings/living.db': ['Replay__get_frame', { recording: 'living', frame_id: 1 }],
  'replay.db': ['Replay__list_recordings', {}],
  'help.db': ['Help__find_help_topics', { text: 'lamps' }],
  'minds.db': ['Minds__list_minds', {}],
  'debrief.db': ['Debrief__list_plots', {}],
  'trm.db': ['Trm__start', { repo: 'none' }],
}

/** Apps that a file is needed for; a run of the recorder is needed for itself alone. */
const needing = (path: string): string =>
  path.includes('/') ? '' : (questions[path]?.[0].split('__')[0] ?? '')

/** A data folder of the released version, with the paths in it brought along. */
function dataIn(t: Test): string {
  const dir = join(t.testdir({ data: {} }), 'data')
  layOut(version, dir)
  const db = new Database(join(dir, 'recordings.db'))
  db.prepare(`UPDATE recording SET path = ? WHERE path LIKE '%/data/recordings/living.db'`).run(
    join(dir, 'recordings/living.db'),
  )
  db.pragma('journal_mode = DELETE')
  db.close()
  return dir
}

const page = 4096

/** What a disk may have made of a file. */
const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is no database': (bytes) => Buffer.alloc(bytes.length, 'no database '),
  'was cut off': (bytes) => bytes.subarray(0, page * 1.5),
  'has holes': (bytes) => Buffer.concat([bytes.subarray(0, page), Buffer.alloc(bytes.length - page)]),
}

for (const [name, damage] of Object.entries(damages))
  verifies('fault:damaged', `each store whose file ${name}`, async (t) => {
    for (const [path, [tool, args]] of Object.entries(questions)) {
      const dir = dataIn(t)
      const file = join(dir, path)
      const bad = damage(readFileSync(file))
      writeFileSync(file, bad)
      const core = await openTestCore(t, apps, {
        dir: join(dir, '..'),
        log: captureLog('silent').log,
        env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_TRM_ROOTS: dir },
      })
      const { apps: states } = await core.health()
      const ill = Object.entries(states).filter(([, { status }]) => status !== 'ok')
      t.ok(
        ill.every(([app]) => app === needing(path)),
        `${path}: no other app is ill`,
      )
      const answer = await call(core, tool, args)
      const { code, remedy, data } = (answer._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
      const said = code === 'APP_UNAVAILABLE' ? data.reason : code
      if (path.includes('/')) t.match(said, /^(RECORDING_DAMAGED|NOT_A_DATABASE)$/, `${path}: it is said`)
      else {
        t.equal(said, 'DATA_DAMAGED', `${path}: it is said`)
        t.match(remedy, /backup/, 'with what to do')
      }
      t.ok(readFileSync(file).equals(bad), 'and the file is left as it is')
      await core.close()
    }
  })

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
type Data = any

/** The server by root is bound by the modes of files as everybody else is. */
const boundByModes = [
  '-c',
  `unset NODE_OPTIONS; [ $(id -u) = 0 ] && bound="setpriv --bounding-set -dac_override,-dac_read_search --"; exec $bound "$0" "$@"`,
  process.execPath,
  ...fromSource,
]

verifies('fault:read-only', async (t) => {
  // Not below the checkout, whose owner need not be the one who runs this.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-read-only-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  layOut(version, dir)
  const locked = ['minds.db', 'trm.db', 'debrief.db', 'replay.db']
  const before = new Map(locked.map((path) => [path, readFileSync(join(dir, path))]))
  for (const path of locked) chmodSync(join(dir, path), 0o400)
  const start = { dir, command: 'bash', program: boundByModes }
  const { url, server } = await startServer(t, start)
  const { json } = await getJson(url, '/health')
  for (const path of locked)
    t.match(json.apps[needing(path)], { status: 'failed', reason: 'DATA_UNWRITABLE' }, path)
  t.match(json.apps, { Causeway: { status: 'ok' }, Help: { status: 'ok' }, ToolVault: { status: 'ok' } })
  const answer = await postMcp(url, 'tools/call', { name: 'Minds__list_minds', arguments: {} })
  t.match(answer.json.result._meta[errorMetaKey], {
    code: 'APP_UNAVAILABLE',
    remedy: /permissions/,
    data: { reason: 'DATA_UNWRITABLE' },
  })
  await server.stop()
  for (const [path, bytes] of before)
    t.ok(readFileSync(join(dir, path)).equals(bytes), `${path} is untouched`)

  chmodSync(join(dir, 'server.db'), 0o400)
  const second = spawnServer(t, start)
  t.match(await second.exited, { code: 1 })
  t.match(second.stderr, /^causeway: DATA_UNWRITABLE: .*server\.db; .*permissions/m)
})

/** Shells that start the server where its folder takes nothing: it is read-only, or the disk is full. */
const nothingTaken: Readonly<Record<string, { readonly mode: number; readonly program: readonly string[] }>> =
  {
    'a folder that may not be written': { mode: 0o500, program: boundByModes },
    'a disk that takes nothing': {
      mode: 0o700,
      program: [
        '-c',
        `unset NODE_OPTIONS; trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`,
        process.execPath,
        ...fromSource,
      ],
    },
  }

for (const [name, { mode, program }] of Object.entries(nothingTaken))
  verifies('fault:read-only', `${name}: it is said, and what is there stays`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'causeway-nothing-'))
    t.teardown(() => {
      chmodSync(dir, 0o700)
      rmSync(dir, { recursive: true, force: true })
    })
    const files = layOut(version, dir)
    const before = files.map((path) => readFileSync(join(dir, path)))
    chmodSync(dir, mode)
    const server = spawnServer(t, { dir, command: 'bash', program })
    t.match(await server.exited, { code: 1 })
    t.match(server.stderr, /^causeway: DATA_UNWRITABLE: .*; free disk space and check the permissions/m)
    for (const [index, path] of files.entries())
      t.ok(readFileSync(join(dir, path)).equals(before[index] as Buffer), `${path} is untouched`)
  })

verifies('fault:disk-full', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = everyWork(root)
  const env = settingsOf(works)
  for (const work of works) work.before?.()
  const first = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url: first.url, dir })
  for (const work of works) await work.step({ url: first.url, dir })
  await first.server.stop()

  // No file may grow beyond 640 KiB: a write beyond fails as on a full disk, and the process goes on. What the runner of
  // tests loads into every process would end it at the signal that goes with it.
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
  const { refusals, steps } = await live(works, { url, dir }, { signal: enough.signal })
  clearTimeout(timer)
  const said = refusals.map((error) => (error instanceof Refused ? error.answer.json.code : String(error)))
  t.comment(`answered before the disk was full: ${JSON.stringify(steps)}; then ${said.join(', ')}`)
  t.ok(said.length >= 3, 'stores met the limit')
  t.same(
    said.filter((code) => !Object.hasOwn(codes, code) || code === 'INTERNAL'),
    [],
    'and said so by a code',
  )
  t.match(await getJson(url, '/health'), { status: 200 }, 'the server goes on')
  server.process.kill('SIGKILL')
  await server.exited
  checkFiles(t, dir)
  const again = await startServer(t, { dir, env })
  // Calls that were made on the full disk were written down in memory alone.
  const promised = new Map(promisesOf(works))
  promised.set('server', { choice: undefined, requests: [] })
  await checkAll(t, works, { url: again.url, dir }, promised)
  await again.server.stop()
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
    'a repeat is one, though the first is of tomorrow now',
  )
  nowMs += 5 * day
  t.match((await remember('c', 'two')).structuredContent, { status: 'created' })
  const names = (await core.audit({ app: 'Minds', limit: 10 })).map(({ id }) => id)
  t.same(names, [4, 3, 2, 1], 'entries of the audit keep the order of the calls')
  for (let i = 0; i < 3; i++) await call(core, 'Minds__list_minds', {}, { sessionKey: 'four' })
  nowMs += 30 * day
  t.match(
    await call(core, 'Minds__list_minds', {}, { sessionKey: 'four' }),
    { isError: true, _meta: { [errorMetaKey]: { code: 'RATE_LIMITED' } } },
    'a jump fills no bucket',
  )
  nowMs = start
  t.match(
    (await call(core, 'Minds__list_minds', {}, { sessionKey: 'five' })).structuredContent,
    { minds: [{ mind_id: 'a' }, { mind_id: 'b' }, { mind_id: 'c' }] },
    'and empties none',
  )
})

verifies('fault:clock', 'a repeat is one, though the clock was set forward by an hour since', async (t) => {
  let nowMs = Date.UTC(2026, 0, 10)
  const core = await openTestCore(t, apps, {
    now: () => nowMs,
    steady: () => 0,
    log: captureLog('silent').log,
    env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_RECORDING_ROOTS: recordings },
  })
  const twice = async (tool: string, args: object) => {
    const ask = async () => (await call(core, tool, args, { requestId: 'again' })).structuredContent
    const first = await ask()
    nowMs += 3_600_000
    return [first, await ask()] as const
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
