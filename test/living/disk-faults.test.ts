/** Writes that fail, are cut short or never reach the disk: for every store. */
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codes } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { getJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { canInjectFaults, FaultyDisk } from './faulty-disk.ts'
import { checkAll, checkFiles, everyWork, live, promisesOf, settingsOf } from './lives.ts'
import { Refused } from './work.ts'

t.setTimeout(400_000)

const isLong = process.env.CAUSEWAY_LONG !== undefined

/** Files of each store, by the work that writes them. */
const filesByWork: Readonly<Record<string, readonly string[]>> = {
  server: ['data/server.db'],
  recordings: ['data/recordings/living.db'],
  replay: ['data/replay.db'],
  minds: ['data/minds.db'],
  debrief: ['data/debrief.db', 'plots/'],
  trm: ['data/trm.db', 'data/trm/', 'projects/'],
}

function prepare(t: Test) {
  const root = t.testdir({ data: {}, plots: {}, projects: {}, disk: {} })
  const works = everyWork(root)
  for (const work of works) work.before?.()
  return { root, dir: join(root, 'data'), works, env: settingsOf(works) }
}

const readCode = (error: unknown): string =>
  error instanceof Refused ? error.answer.json.code : String(error)

/** Returns the proof; without a C compiler, one that is reported as skipped. */
const onFaultyDisk = (proof: (t: Test) => Promise<void>): ((t: Test) => Promise<void>) =>
  canInjectFaults
    ? proof
    : async (t) => void t.pass('writes fail', { skip: 'no C compiler for the library that injects faults' })

verifies(
  'fault:io',
  onFaultyDisk(async (t) => {
    const { root, dir, works, env } = prepare(t)
    const disk = new FaultyDisk(join(root, 'disk'), root)
    const { url, server } = await startServer(t, { dir, env: { ...env, ...disk.env } })
    const place = { url, dir }
    for (const work of works) await work.begin(place)
    for (const work of works) await work.step(place)
    const hits: string[] = []
    const refusals: string[] = []
    for (const work of works)
      for (const file of filesByWork[work.name] ?? [])
        for (const fault of ['error', 'short', 'sync'] as const) {
          disk.plan(fault, fault === 'sync' ? 1 : 2, file)
          for (let i = 0; i < 6 && !disk.hasHit; i++)
            await work.step(place).catch((error: unknown) => void refusals.push(readCode(error)))
          if (disk.hasHit) hits.push(`${fault} ${file}`)
          disk.cancel()
          await checkAll(t, [work], place, promisesOf([work]))
        }
    t.comment(`hit: ${hits.join(', ')}; refused: ${refusals.join(', ')}`)
    for (const files of Object.values(filesByWork))
      t.ok(hits.includes(`error ${files[0]}`), `a write to ${files[0]} failed`)
    t.same(
      refusals.filter((code) => !Object.hasOwn(codes, code) || code === 'INTERNAL'),
      [],
      'every refusal has a code',
    )
    t.equal((await getJson(url, '/health')).json.status, 'ok', 'no failure outlasts its cause')
    const promised = promisesOf(works)
    server.process.kill('SIGKILL')
    await server.exited
    checkFiles(t, dir)
    const again = await startServer(t, { dir, env })
    await checkAll(t, works, { url: again.url, dir }, promised)
  }),
)

verifies(
  'fault:torn',
  onFaultyDisk(async (t) => {
    const { root, dir, works, env } = prepare(t)
    const disk = new FaultyDisk(join(root, 'disk'), root)
    const files = works.flatMap(({ name }) => (filesByWork[name] ?? []).map((file) => [name, file] as const))
    let promised = promisesOf(works)
    let torn = 0
    for (const [life, [name, file]] of [...files, ...(isLong ? files : [])].entries()) {
      const { url, server } = await startServer(t, { dir, env: { ...env, ...disk.env } })
      const place = { url, dir }
      if (life === 0) for (const work of works) await work.begin(place)
      else await checkAll(t, works, place, promised)
      for (const work of works) await work.step(place)
      disk.plan('torn', 3 + life, file)
      const enough = new AbortController()
      let steps = 0
      const counted = works.map((work) => ({
        ...work,
        async step(place: Parameters<typeof work.step>[0]) {
          await work.step(place)
          if (work.name === name && ++steps >= 30) enough.abort()
        },
      }))
      const { refusals } = await live(counted, place, { signal: enough.signal })
      promised = promisesOf(works)
      t.same(refusals.map(readCode), [], 'only the end of the server ended the work')
      if (disk.hasHit) torn += 1
      else server.process.kill('SIGKILL')
      disk.cancel()
      t.match(await server.exited, { signal: 'SIGKILL' })
      checkFiles(t, dir)
    }
    t.comment(`${torn} writes were torn`)
    t.ok(torn >= files.length / 2)
    const { url } = await startServer(t, { dir, env })
    await checkAll(t, works, { url, dir }, promised)
  }),
)

verifies(
  'fault:unsynced',
  onFaultyDisk(async (t) => {
    const { root, dir, works, env } = prepare(t)
    const first = await startServer(t, { dir, env })
    for (const work of works) await work.begin({ url: first.url, dir })
    for (const work of works) await work.step({ url: first.url, dir })
    await first.server.stop()

    // From here on, what is not flushed is lost. The files as they are now are on the disk.
    const disk = new FaultyDisk(join(root, 'disk'), dir, { keepSynced: true })
    cpSync(dir, disk.syncedFolder, { recursive: true })
    const synced = new Map(promisesOf(works))
    const { url, server } = await startServer(t, {
      dir,
      env: { ...env, ...disk.env, CAUSEWAY_MINDS_DURABILITY: 'full' },
    })
    for (let i = 0; i < 5; i++) for (const work of works) await work.step({ url, dir })
    // Each decision of a mind is flushed before it is answered.
    synced.set('minds', promisesOf(works).get('minds'))
    // Which recording the client chose last may be lost; its calls before the stop are in the audit.
    synced.set('server', { ...(synced.get('server') as object), choice: undefined })
    server.process.kill('SIGKILL')
    await server.exited
    rmSync(dir, { recursive: true })
    renameSync(disk.syncedFolder, dir)
    checkFiles(t, dir)

    const again = await startServer(t, { dir, env })
    const { apps } = (await getJson(again.url, '/health')).json
    t.same(
      Object.values(apps as Record<string, { status: string }>).filter(({ status }) => status !== 'ok'),
      [],
    )
    await checkAll(t, works, { url: again.url, dir }, synced, 'later')
  }),
)
