/** Writes that fail, are incomplete or are not flushed to the disk, for every store. */
import { once } from 'node:events'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { errorDefinitions } from '../../scripts/docs/makers.ts'
import { getJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, createWorks, mergeSettings, readPromised, runWorks } from './all-works.ts'
import { canInjectFaults, FaultyDisk } from './faulty-disk.ts'
import { CallError, type Place } from './work.ts'

t.setTimeout(600_000)

const isLong = process.env.CAUSEWAY_LONG !== undefined

/** Files of each store by the name of the work that writes them. */
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
  const works = createWorks(root)
  for (const work of works) work.before?.()
  return { root, dir: join(root, 'data'), works, env: mergeSettings(works) }
}

const readCode = (error: unknown): string =>
  error instanceof CallError ? error.response.json.code : String(error)

/** Returns the proof, or a skipped test if there is no C compiler. */
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
    const failures: string[] = []
    for (const work of works)
      for (const file of filesByWork[work.name] ?? [])
        for (const fault of ['error', 'short', 'sync'] as const) {
          disk.plan(fault, fault === 'sync' ? 1 : 2, file)
          for (let i = 0; i < 6 && !disk.hasHit; i++)
            await work.step(place).catch((error: unknown) => void failures.push(readCode(error)))
          if (disk.hasHit) hits.push(`${fault} ${file}`)
          disk.cancel()
          await checkAll(t, [work], place, readPromised([work]))
        }
    t.comment(`hit: ${hits.join(', ')}; failed: ${failures.join(', ')}`)
    for (const files of Object.values(filesByWork))
      t.ok(hits.includes(`error ${files[0]}`), `a write to ${files[0]} failed`)
    t.same(
      failures.filter((code) => !Object.hasOwn(errorDefinitions, code) || code === 'INTERNAL'),
      [],
      'every error has a code',
    )
    t.equal((await getJson(url, '/health')).json.status, 'ok', 'the server recovers from every failure')
    const promised = readPromised(works)
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
    let promised = readPromised(works)
    let torn = 0
    for (const [life, [name, file]] of [...files, ...(isLong ? files : [])].entries()) {
      const { url, server } = await startServer(t, { dir, env: { ...env, ...disk.env } })
      const place = { url, dir }
      if (life === 0) for (const work of works) await work.begin(place)
      else await checkAll(t, works, place, promised)
      for (const work of works) await work.step(place)
      disk.plan('torn', 3 + life, file)
      const enough = new AbortController()
      const stopped = once(enough.signal, 'abort')
      const counted = works.map((work) => {
        let steps = 0
        return {
          ...work,
          async step(place: Place) {
            if (++steps > 20) {
              if (work.name === name) enough.abort()
              return void (await stopped)
            }
            await work.step(place).catch((error: unknown) => {
              enough.abort()
              throw error
            })
          },
        }
      })
      const { failures } = await runWorks(counted, place, { signal: enough.signal })
      promised = readPromised(works)
      t.same(failures.map(readCode), [], 'calls fail only because the server exits')
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

    // From here on, writes without a flush are lost. The current files count as flushed.
    const disk = new FaultyDisk(join(root, 'disk'), dir, { keepSynced: true })
    cpSync(dir, disk.syncedFolder, { recursive: true })
    const synced = new Map(readPromised(works))
    const { url, server } = await startServer(t, {
      dir,
      env: { ...env, ...disk.env, CAUSEWAY_MINDS_DURABILITY: 'full' },
    })
    for (let i = 0; i < 5; i++) for (const work of works) await work.step({ url, dir })
    // Each decision of a mind is flushed before the response.
    synced.set('minds', readPromised(works).get('minds'))
    // The client's last choice of a recording may be lost. Its calls before the stop are in the audit.
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
