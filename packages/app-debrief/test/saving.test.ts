import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { SaveTimer } from '../src/plot/save-timer.ts'
import { countedPlot } from './counted.ts'
import { ask, emptyFolders, type OpenDebrief, openDebrief, openOver } from './debrief-kit.ts'

/** Prevents automatic saves and checks within a test. */
const never = { settings: { plotSaveMs: 3_600_000, plotCheckMs: 60_000 } }
const filename = 'sample.plot.json'

const point = (id: string) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [-1.2, 50.4] },
  properties: { dataType: 'reference-point', name: id },
})
const editOutside = (opened: OpenDebrief, from: string, to: string): void =>
  writeFileSync(join(opened.folder, filename), opened.file('sample').replace(from, to))

verifies('debrief:save:soon', async (t) => {
  const client = await ask(t, 'sample')
  chmodSync(join(client.folder, filename), 0o640)
  await client.ask('add_features', { features: [point('new')] })
  await until(
    async () => client.file('sample'),
    (text) => text.includes('"new"'),
  )
  t.equal(JSON.parse(client.file('sample')).features.length, 7)
  t.equal(statSync(join(client.folder, filename)).mode & 0o777, 0o640)
  t.same(readdirSync(client.folder), [filename])
  t.match(await client.ask('get_selection'), { dirty: false, rev: 2 })
})

verifies('debrief:save:soon', 'opening a plot removes temporary files of a stopped server', async (t) => {
  const opened = await openDebrief(t, ['sample'])
  const mark = createHash('sha256').update(filename).digest('hex').slice(0, 12)
  const stale = `.causeway-${mark}-4194399-0123456789ab.tmp`
  writeFileSync(join(opened.folder, stale), 'half')
  await opened.client().ask('open_plot', { filename })
  t.same(readdirSync(opened.folder), [filename])
})

t.test('save_plot does not write the file if only the selection changed', async (t) => {
  const client = await ask(t, 'sample')
  const { mtimeMs } = statSync(join(client.folder, filename))
  const before = client.file('sample')
  t.match(await client.ask('set_selection', { selectedIds: ['feature1'] }), { dirty: false })
  await client.ask('save_plot')
  t.equal(client.file('sample'), before)
  t.equal(statSync(join(client.folder, filename)).mtimeMs, mtimeMs)
})

verifies('debrief:external:clean', async (t) => {
  const client = await ask(t, 'sample')
  editOutside(client, 'HMS Illustrious', 'HMS Victorious')
  const { features, rev } = await client.ask('get_features')
  t.equal(features[0].name, 'HMS Victorious')
  t.equal(rev, 2)
  t.ok(client.app.changes.includes('plot://sample.plot.json/features'))
  await client.ask('undo')
  t.equal((await client.ask('get_features')).features[0].name, 'HMS Illustrious')
})

verifies('debrief:external:clean', 'changes of the file are detected without a call', async (t) => {
  const client = await ask(t, 'sample', { settings: { plotCheckMs: 50 } })
  editOutside(client, 'HMS Illustrious', 'HMS Victorious')
  await until(
    async () => client.app.changes,
    (changes) => changes.includes('plot://sample.plot.json/features'),
  )
  t.pass('viewers are notified')
})

t.test('a change of white space by another program does not create a revision', async (t) => {
  const client = await ask(t, 'sample')
  writeFileSync(join(client.folder, filename), JSON.stringify(JSON.parse(client.file('sample'))))
  t.match(await client.ask('get_selection'), { rev: 1, dirty: false })
  await client.ask('delete_features', { ids: ['feature6'] })
  await client.ask('save_plot')
  t.notMatch(client.file('sample'), /\n/, 'the new format is preserved')
})

verifies('debrief:external:conflict', async (t) => {
  const client = await ask(t, 'sample', never)
  const conflict = async (): Promise<string> => {
    await client.ask('add_features', { features: [point(`p${Math.random()}`)] })
    editOutside(client, '"name": "Nab Tower', `"name": "Nab Tower ${Math.random()}`)
    t.match(await client.refusal('save_plot'), {
      code: 'PLOT_CONFLICT',
      data: { filename, ours: { rev: Number }, theirs: { sha256: String } },
    })
    t.match(await client.ask('get_selection'), { file: 'conflict', dirty: true })
    return client.file('sample')
  }
  const theirs = await conflict()
  t.equal((await client.ask('get_features')).total, 7)
  t.match(await client.ask('save_plot', { on_conflict: 'overwrite' }), { dirty: false })
  t.not(client.file('sample'), theirs)
  t.equal(JSON.parse(client.file('sample')).features.length, 7)

  const second = await conflict()
  t.match(await client.ask('save_plot', { on_conflict: 'reload' }), { dirty: false })
  t.equal(client.file('sample'), second, 'the file has the content of the other program')
  t.equal((await client.ask('get_features')).total, 7)
  await client.ask('undo')
  t.equal((await client.ask('get_features')).total, 8, 'undo restores the unsaved changes')
  await client.ask('save_plot')

  const third = await conflict()
  t.match(await client.refusal('save_plot', { on_conflict: 'save_as' }), { code: 'INVALID_ARGUMENTS' })
  t.match(await client.refusal('save_plot', { on_conflict: 'save_as', new_filename: filename }), {
    code: 'PLOT_EXISTS',
  })
  await client.ask('save_plot', { on_conflict: 'save_as', new_filename: 'ours.plot.json' })
  t.equal(client.file('sample'), third)
  t.equal(JSON.parse(client.file('ours')).features.length, 9)
})

verifies('debrief:external:invalid', async (t) => {
  const client = await ask(t, 'sample', never)
  const path = join(client.folder, filename)
  const good = client.file('sample')
  writeFileSync(path, good.slice(0, 200))
  t.match(await client.ask('get_features'), { total: 6, file: 'invalid', file_message: String })
  await client.ask('delete_features', { ids: ['feature6'] })
  t.match(await client.refusal('save_plot'), { code: 'PLOT_CONFLICT' })
  t.equal(client.file('sample'), good.slice(0, 200))
  await client.ask('save_plot', { on_conflict: 'overwrite' })
  t.equal(JSON.parse(client.file('sample')).features.length, 5)

  rmSync(path)
  t.match(await client.ask('get_features'), { total: 5, file: 'missing' })
  t.match(await client.refusal('save_plot'), { code: 'PLOT_CONFLICT' })
  await client.ask('save_plot', { on_conflict: 'overwrite' })
  t.equal(JSON.parse(client.file('sample')).features.length, 5)

  writeFileSync(path, good.slice(0, 100))
  t.match(await client.ask('get_selection'), { file: 'invalid' })
  writeFileSync(path, good)
  t.match(await client.ask('get_features'), { total: 6 }, 'reads a repaired file')
})

verifies('debrief:names', 'open_plot does not open a link or a file with a similar name', async (t) => {
  const opened = await openDebrief(t, ['mission1'])
  const outside = join(opened.dir, 'outside.plot.json')
  writeFileSync(outside, '{"type":"FeatureCollection","features":[]}')
  symlinkSync(outside, join(opened.folder, 'link.plot.json'))
  symlinkSync(join(opened.dir, 'data', 'none.plot.json'), join(opened.folder, 'nowhere.plot.json'))
  const client = opened.client()
  for (const name of ['link.plot.json', 'nowhere.plot.json', '1.plot.json', 'Mission1.plot.json'])
    t.match(await client.refusal('open_plot', { filename: name }), { code: 'PLOT_NOT_FOUND' }, name)
  t.match(await client.refusal('open_plot', { filename: '../outside.plot.json' }), {
    code: 'INVALID_FILENAME',
  })
  t.match(await client.refusal('get_features', { filename: 'mission1.plot.json' }), {
    code: 'PLOT_NOT_FOUND',
    remedy: /open_plot/,
  })
  t.same(readdirSync(opened.dir).sort(), ['data', 'outside.plot.json', 'plots'])
})

function timed(saveAfterMs: number) {
  let nowMs = 0
  let due: { readonly atMs: number; readonly work: () => void } | undefined
  const saves: number[] = []
  const timer = new SaveTimer({
    now: () => nowMs,
    saveAfterMs,
    save: () => void saves.push(nowMs),
    schedule(work, ms) {
      const mine = { atMs: nowMs + ms, work }
      due = mine
      return () => {
        if (due === mine) due = undefined
      }
    },
  })
  return {
    timer,
    saves,
    pass(ms: number): void {
      const untilMs = nowMs + ms
      while (due !== undefined && due.atMs <= untilMs) {
        const { atMs, work } = due
        nowMs = atMs
        due = undefined
        work()
      }
      nowMs = untilMs
    },
  }
}

/** Schedules a change every `everyMs` for `forMs`, and returns the times of the saves. */
function busy(
  saveAfterMs: number,
  { everyMs, forMs }: { everyMs: number; forMs: number },
): readonly number[] {
  const { timer, saves, pass } = timed(saveAfterMs)
  for (let passed = 0; passed < forMs; passed += everyMs) {
    timer.schedule(false)
    pass(everyMs)
  }
  pass(1e9)
  return saves
}

verifies('debrief:save:pause', 'SaveTimer saves once after the last of several changes', async (t) => {
  t.same(busy(250, { everyMs: 100, forMs: 500 }), [650])
})

verifies(
  'debrief:save:pause',
  'SaveTimer saves two seconds after the first of continuous changes',
  async (t) => {
    t.same(busy(250, { everyMs: 100, forMs: 4500 }), [2000, 4000, 4650])
  },
)

verifies(
  'debrief:save:pause',
  'saveAfterMs above two seconds is also the maximum wait after the first change',
  async (t) => {
    t.same(busy(10_000, { everyMs: 10_000, forMs: 10_000 }), [10_000])
    t.same(busy(10_000, { everyMs: 4000, forMs: 8000 }), [10_000])
    t.same(busy(3_600_000, { everyMs: 60_000, forMs: 3_600_000 }), [3_600_000])
  },
)

t.test('SaveTimer retries a failed save after five seconds, regardless of changes', async (t) => {
  const { timer, saves, pass } = timed(250)
  for (let passed = 0; passed < 5000; passed += 1000) {
    timer.schedule(true)
    pass(1000)
  }
  t.same(saves, [5000])
})

t.test('SaveTimer does not save after stop', async (t) => {
  const { timer, saves, pass } = timed(250)
  timer.schedule(false)
  timer.stop()
  timer.schedule(false)
  pass(1e9)
  t.same(saves, [])
})

/** Runs work as an unprivileged user, because permissions do not restrict root. */
async function asUnprivileged<T>(work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

t.test('open_plot reports a file or folder that cannot be read as PLOT_UNREADABLE', async (t) => {
  const { folder, ...opened } = await openDebrief(t, ['sample'], { isShared: true })
  const client = opened.client()
  chmodSync(join(opened.dir, 'data'), 0o777)
  for (const path of [join(folder, filename), folder]) {
    chmodSync(path, 0)
    await asUnprivileged(async () =>
      t.match(await client.refusal('open_plot', { filename }), {
        code: 'PLOT_UNREADABLE',
        data: { reason: 'EACCES' },
      }),
    )
    chmodSync(path, 0o755)
  }
  await client.ask('open_plot', { filename })
})

verifies(
  'debrief:save:failed',
  'changes in a read-only folder stay unsaved until the folder is writable',
  async (t) => {
    const client = await ask(t, 'sample', { ...never, isShared: true })
    const before = client.file('sample')
    chmodSync(join(client.dir, 'data'), 0o777)
    await client.ask('delete_features', { ids: ['feature1'] })
    chmodSync(client.folder, 0o555)
    await asUnprivileged(async () => {
      t.match(await client.refusal('save_plot'), {
        code: 'PLOT_READONLY',
        data: { filename: 'sample.plot.json' },
        remedy: /save_as/,
      })
    })
    t.match(await client.ask('get_features'), { total: 5, dirty: true })
    t.equal(client.file('sample'), before)
    t.same(readdirSync(client.folder), ['sample.plot.json'])
    chmodSync(client.folder, 0o755)
    t.match(await client.ask('save_plot'), { dirty: false })
    t.equal(JSON.parse(client.file('sample')).features.length, 5)
  },
)

verifies(
  'debrief:save:failed',
  'a change that a full disk cannot store in the file survives a restart',
  async (t) => {
    const dir = emptyFolders(t)
    const path = join(dir, 'plots', 'wide.plot.json')
    const feature = (id: number) => ({
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [0, 50] },
      properties: { text: 'y'.repeat(1000) },
    })
    const features = Array.from({ length: 500 }, (_, id) => feature(id))
    const before = JSON.stringify({ type: 'FeatureCollection', features })
    writeFileSync(path, before)
    const script = fileURLToPath(new URL('full-disk.ts', import.meta.url))
    // The limit, in blocks of 512 bytes, slightly exceeds the file's size. A test runner's modules would exceed it.
    const shell = `unset NODE_OPTIONS; ulimit -f ${Math.ceil(before.length / 512) + 8}; exec "$0" "$@"`
    const node = [process.execPath, '--conditions=@causeway/source', script, dir]
    const { stdout } = await promisify(execFile)('sh', ['-c', shell, ...node])
    t.same(JSON.parse(stdout), { code: 'SAVE_FAILED', total: 501, files: ['wide.plot.json'] })
    t.equal(readFileSync(path, 'utf8'), before)

    const later = await openOver(t, dir, { now: () => Date.now() + 660_000 })
    const client = later.client()
    t.match(await client.ask('get_features', { limit: 1 }), { total: 501 }, 'the change is not lost')
    await client.ask('save_plot')
    t.equal(JSON.parse(later.file('wide')).features.length, 501)
  },
)

const rounds = process.env.CAUSEWAY_LONG === undefined ? 5 : 200
if (rounds > 5) t.setTimeout(900_000)

const script = fileURLToPath(new URL('counting.ts', import.meta.url))

/**
 * Starts a counting process and kills it after `numbers` numbers. Returns its first number and the last number that it
 * printed.
 */
async function killedAfter(dir: string, round: number, numbers: number): Promise<readonly [number, number]> {
  const child = spawn(process.execPath, ['--conditions=@causeway/source', script, dir, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let [began, last, received] = [0, 0, 0]
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('begins ')) began = Number(line.slice(7))
    else {
      last = Number(line)
      received += 1
    }
    if (received >= numbers) child.kill('SIGKILL')
  }
  await exited
  return [began, last]
}

verifies(
  'debrief:save:killed',
  inCI(async (t) => {
    const dir = emptyFolders(t)
    const file = join(dir, 'plots', 'counted.plot.json')
    writeFileSync(file, countedPlot(0))
    let answered = 0
    for (let round = 0; round < rounds; round += 1) {
      const [began, last] = await killedAfter(dir, round, 1 + ((round * 7) % 13))
      t.ok(began >= answered, `no acknowledged change is lost: ${began} after ${answered}`)
      answered = last
      const text = readFileSync(file, 'utf8')
      const { count } = JSON.parse(text).features[0].properties
      t.ok(text === countedPlot(count) && count <= last + 1, `the file is revision ${count} of ${last}`)
    }
    const later = await openOver(t, dir, { now: () => Date.now() + rounds * 660_000 })
    const client = later.client()
    await client.ask('save_plot')
    t.same(readdirSync(join(dir, 'plots')), ['counted.plot.json'], 'leaves no temporary file')
    t.ok(later.file('counted').startsWith(countedPlot(answered).slice(0, 40)))
  }),
)
