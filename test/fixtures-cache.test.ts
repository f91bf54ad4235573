import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { cached, hashFolders } from '../fixtures/generate/generated/cache.ts'

const cacheModule = join(import.meta.dirname, '..', 'fixtures', 'generate', 'generated', 'cache.ts')

/** A process that asks for a cached folder; `making` is what it does to make it. */
function asker(root: string, making: string): ChildProcess {
  const script = `import { cached } from ${JSON.stringify(cacheModule)}
    import { appendFileSync, writeFileSync } from 'node:fs'
    await cached(${JSON.stringify(root)}, 'key', async (folder) => { ${making} })
    console.log('done')`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('cache: of several processes and calls at once one makes the folder', async (t) => {
  const root = t.testdir({ log: '' })
  const log = join(root, 'log')
  const cache = join(root, 'cache')
  const note = `appendFileSync(${JSON.stringify(log)}, 'made\\n'); writeFileSync(folder + '/file', 'whole')`
  const others = [asker(cache, note), asker(cache, note)]
  const exits = others.map((child) => once(child, 'exit'))
  const make = async (folder: string) => {
    writeFileSync(log, `${readFileSync(log, 'utf8')}made\n`)
    writeFileSync(join(folder, 'file'), 'whole')
  }
  const folders = await Promise.all([cached(cache, 'key', make), cached(cache, 'key', make)])
  for (const [code] of await Promise.all(exits)) t.equal(code, 0)
  t.equal(readFileSync(log, 'utf8'), 'made\n')
  for (const folder of folders) t.equal(readFileSync(join(folder, 'file'), 'utf8'), 'whole')
})

test('cache: a process that dies while it makes the folder leaves the way free', async (t) => {
  const root = join(t.testdir(), 'cache')
  const child = asker(
    root,
    `writeFileSync(folder + '/half', ''); console.log('half'); await new Promise(() => setInterval(() => {}, 1000))`,
  )
  t.teardown(() => child.kill('SIGKILL'))
  if (child.stdout) await once(child.stdout, 'data')
  t.notOk(existsSync(join(root, 'key')), 'half a folder is not seen')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const folder = await cached(root, 'key', async (target) => writeFileSync(join(target, 'file'), 'whole'))
  t.same(readdirSync(folder), ['file'])
})

test('cache: a folder that could not be made is made again by the next, and other keys go', async (t) => {
  const root = join(t.testdir(), 'cache')
  await t.rejects(
    cached(root, 'old', async () => {
      throw new Error('disk full')
    }),
    { message: 'disk full' },
  )
  const make = async (folder: string) => writeFileSync(join(folder, 'file'), '')
  const old = await cached(root, 'old', make)
  await cached(root, 'new', make)
  t.notOk(existsSync(old))
  t.ok(existsSync(join(root, 'new', 'file')))
})

test('cache: the key follows the scripts and what else is given', async (t) => {
  const dir = t.testdir({ 'a.ts': 'one', deep: { 'b.ts': 'two' } })
  const first = hashFolders([dir], '1.0.0')
  t.equal(hashFolders([dir], '1.0.0'), first)
  t.not(hashFolders([dir], '1.0.1'), first)
  writeFileSync(join(dir, 'deep', 'b.ts'), 'three')
  t.not(hashFolders([dir], '1.0.0'), first)
})
