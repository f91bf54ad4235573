/** Write failures in files that no client writes directly: the catalogue, copies of recordings, and plots. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { getJson } from '../e2e/http.ts'
import { recordings, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkFiles, mergeSettings } from './all-works.ts'
import { debriefWork } from './debrief-work.ts'
import { canInjectFaults, FaultyDisk } from './faulty-disk.ts'
import { CallError, type Place, tool, type Work } from './work.ts'

t.setTimeout(600_000)

/** The writes to a file that fail, in turn. */
const faultyWrites: readonly number[] = process.env.CAUSEWAY_LONG === undefined ? [1] : [1, 2, 3, 4, 5, 6]

/** Reads a foreign recording in each step that the server has not copied yet. */
function libraryWork(root: string): Work<number> {
  const folder = join(root, 'foreign')
  let count = 0
  const read = (url: string, number: number) =>
    tool(url, ['replay', 'get_frame'], { recording: `foreign-${number}`, frame_id: 1 })
  return {
    name: 'library',
    env: { CAUSEWAY_RECORDING_ROOTS: folder },
    before: () => mkdirSync(folder),
    begin: async () => {},
    async step({ url }) {
      copyFileSync(join(recordings, 'drop.db'), join(folder, `foreign-${count + 1}.db`))
      await read(url, count + 1)
      count += 1
    },
    promised: () => count,
    async check(t, { url }, promised) {
      for (let number = 1; number <= promised; number += 1)
        t.match(await read(url, number), { frame_id: 1 }, `recording ${number} is readable`)
    },
  }
}

/** Adds an explicit save to each step, because Debrief saves changes with a delay. */
function savingWork(root: string): ReturnType<typeof debriefWork> {
  const work = debriefWork(root)
  return {
    ...work,
    async step(place: Place) {
      await work.step(place)
      await tool(place.url, ['debrief', 'save_plot'], { filename: 'sample.plot.json' })
    },
  }
}

/** The works whose files fail here, with these files. */
function prepare(t: Test) {
  const root = t.testdir({ data: {}, plots: {}, disk: {} })
  const disk = new FaultyDisk(join(root, 'disk'), root)
  const filesOfWork: readonly (readonly [Work, readonly string[]])[] = [
    [libraryWork(root) as Work, ['data/recordings.db', 'data/snapshots/']],
    [savingWork(root) as Work, ['plots/']],
  ]
  const works = filesOfWork.map(([work]) => work)
  for (const work of works) work.before?.()
  return { dir: join(root, 'data'), disk, filesOfWork, works, env: mergeSettings(works) }
}

verifies('fault:io', 'in files that no client writes directly', async (t) => {
  if (!canInjectFaults) {
    t.pass('writes fail', { skip: 'no C compiler for the library that injects faults' })
    return
  }
  const { dir, disk, filesOfWork, works, env } = prepare(t)
  const { url, server } = await startServer(t, { dir, env: { ...env, ...disk.env } })
  const place = { url, dir }
  for (const work of works) await work.begin(place)
  for (const work of works) await work.step(place)
  for (const [work, files] of filesOfWork)
    for (const file of files)
      for (const [fault, nth] of (['error', 'short'] as const).flatMap((fault) =>
        faultyWrites.map((nth) => [fault, nth] as const),
      )) {
        const failures: string[] = []
        disk.plan(fault, nth, file)
        for (let i = 0; i < 4 * nth && !disk.hasHit; i++)
          await work
            .step(place)
            .catch((error: unknown) =>
              failures.push(error instanceof CallError ? error.response.json.code : String(error)),
            )
        t.ok(
          disk.hasHit,
          `${fault} ${nth} ${file}: a write failed; failed: ${failures.join(', ') || 'nothing'}`,
        )
        disk.cancel()
        t.same(
          failures.filter((code) => !['DATA_UNWRITABLE', 'SAVE_FAILED'].includes(code)),
          [],
          'a failed write is not reported as damage',
        )
        await t.test(`${work.name} after ${fault} ${file}`, (t) =>
          work.check(t, place, work.promised(), 'unchanged'),
        )
        await work.step(place)
      }
  t.equal((await getJson(url, '/health')).json.status, 'ok')
  server.process.kill('SIGKILL')
  await server.exited
  checkFiles(t, dir)
  const again = await startServer(t, { dir, env })
  for (const work of works)
    await t.test(work.name, (t) => work.check(t, { url: again.url, dir }, work.promised(), 'unchanged'))
})

verifies('fault:torn', 'in files that no client writes directly', async (t) => {
  if (!canInjectFaults) {
    t.pass('writes are torn', { skip: 'no C compiler for the library that injects faults' })
    return
  }
  const { dir, disk, filesOfWork, works, env } = prepare(t)
  const targets = filesOfWork.flatMap(([work, files]) => files.map((file) => [work, file] as const))
  for (const [life, [work, file]] of targets.entries()) {
    const { url, server } = await startServer(t, { dir, env: { ...env, ...disk.env } })
    const place = { url, dir }
    if (life === 0) for (const one of works) await one.begin(place)
    for (const one of works) await one.step(place)
    disk.plan('torn', 1, file)
    // The failed call is not promised. A torn write of git ends git and not the server.
    for (let i = 0; i < 4 && !disk.hasHit; i++) await work.step(place).catch(() => {})
    t.ok(disk.hasHit, `a write to ${file} was torn`)
    disk.cancel()
    server.process.kill('SIGKILL')
    await server.exited
    checkFiles(t, dir)
    const again = await startServer(t, { dir, env })
    for (const one of works)
      await t.test(`${one.name} after a torn write to ${file}`, (t) =>
        one.check(t, { url: again.url, dir }, one.promised(), 'unchanged'),
      )
    await again.server.stop()
  }
})

verifies('fault:io', 'while Help builds its first index', async (t) => {
  if (!canInjectFaults) {
    t.pass('writes fail', { skip: 'no C compiler for the library that injects faults' })
    return
  }
  const root = t.testdir({ pages: {}, disk: {} })
  writeFileSync(join(root, 'pages/lamps.md'), '# Lamps\n\nThe quokka lights a lamp.\n')
  const disk = new FaultyDisk(join(root, 'disk'), root)
  const env = { CAUSEWAY_HELP_BUILD: 'true', CAUSEWAY_HELP_SOURCES: `mine=${join(root, 'pages')}` }
  const find = (url: string) => tool(url, ['help', 'find_help_topics'], { text: 'quokka', source: 'mine' })
  for (const [life, [fault, nth, file]] of (
    [
      ['error', 3, 'help/index-'],
      ['short', 3, 'help/index-'],
      ['error', 3, 'help.db'],
    ] as const
  ).entries()) {
    const dir = join(root, `data-${life}`)
    mkdirSync(dir)
    disk.plan(fault, nth, file)
    const { url, server } = await startServer(t, { dir, env: { ...env, ...disk.env } })
    const code = await find(url).then(
      () => '',
      (error: unknown) => (error instanceof CallError ? error.response.json.code : String(error)),
    )
    t.ok(disk.hasHit, `${fault} ${file}: a write failed; failed: ${code || 'nothing'}`)
    t.match(code, /^(DATA_UNWRITABLE|HELP_NOT_BUILT|APP_UNAVAILABLE)?$/)
    disk.cancel()
    server.process.kill('SIGKILL')
    await server.exited
    checkFiles(t, dir)
    const again = await startServer(t, { dir, env })
    t.equal((await find(again.url)).results.length, 1, 'the next start builds the index')
    await again.server.stop()
  }
})
