/** A data folder in use for a while, harmed in one place while no server runs: what the next server says and does. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codes } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { spawnServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, everyWork, promisesOf, settingsOf } from './lives.ts'
import { type Place, Refused, tool, type Work } from './work.ts'

t.setTimeout(300_000)

/** What is harmed, and who suffers. */
interface Harm {
  readonly harm: (place: Pick<Place, 'dir'> & { readonly root: string }) => void
  /** Works that are not as they were; every other one is checked. */
  readonly suffers: readonly string[]
  /** What the server then says; gets the works that suffer. */
  readonly after?: (
    t: Test,
    place: Place & { readonly root: string },
    works: readonly Work[],
  ) => Promise<void>
}

/** The code of a call that is refused. */
async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
    return 'none'
  } catch (error) {
    if (error instanceof Refused) return error.answer.json.code
    throw error
  }
}

const trmOf = (works: readonly Work[]): Work => {
  const trm = works.find(({ name }) => name === 'trm')
  if (trm === undefined) throw new Error('no work on Trm')
  return trm
}

/** Takes the session of the refinement back to its beginning. */
const resetTo = (url: string, works: readonly Work[]): Promise<unknown> => {
  const { sid } = trmOf(works).promised() as { readonly sid: string }
  return tool(url, ['trm', 'reset'], { sid })
}

const overwrite = (file: string, keep = 0): void => {
  const bytes = readFileSync(file)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, keep), Buffer.alloc(bytes.length - keep, 'harm')]))
}

const indexOf = (dir: string): string => {
  const names = readdirSync(join(dir, 'help')).filter((name) => /^index-\d+\.db$/.test(name))
  const newest = names.sort((a, b) => Number(/\d+/.exec(b)) - Number(/\d+/.exec(a)))[0]
  return join(dir, 'help', newest ?? '')
}

/** Waits until a question is answered that the index answered before. */
const indexedAgain = async (t: Test, { url }: Place): Promise<void> => {
  const ask = () => codeOf(tool(url, ['help', 'find_help_topics'], { text: 'quokka', source: 'mine' }))
  t.match(await ask(), /^(DATA_DAMAGED|none)$/)
  t.equal(await until(ask, (code) => code === 'none'), 'none', 'the index is made anew')
}

const harms: Readonly<Record<string, Harm>> = {
  'the index of Help is no database': {
    harm: ({ dir }) => overwrite(indexOf(dir)),
    suffers: [],
    after: indexedAgain,
  },
  'the index of Help has holes': {
    harm: ({ dir }) => overwrite(indexOf(dir), 8192),
    suffers: [],
    after: indexedAgain,
  },
  'the index of Help is gone': {
    harm: ({ dir }) => rmSync(indexOf(dir)),
    suffers: [],
    after: indexedAgain,
  },
  'the plot file of a user was cut off': {
    harm({ root }) {
      const file = join(root, 'plots/sample.plot.json')
      writeFileSync(file, readFileSync(file).subarray(0, 200))
    },
    suffers: ['debrief'],
    async after(t, { url, root }) {
      const filename = 'sample.plot.json'
      t.equal(await codeOf(tool(url, ['debrief', 'get_features'], { filename })), 'INVALID_PLOT')
      t.match(await tool(url, ['debrief', 'list_plots'], {}), { summary: String })
      t.equal(readFileSync(join(root, 'plots', filename)).length, 200, 'and nobody writes over it')
    },
  },
  'the snapshots of Trm are no repository': {
    harm({ dir }) {
      writeFileSync(join(dir, 'trm/shadow.git/HEAD'), 'harm')
      rmSync(join(dir, 'trm/shadow.git/refs'), { recursive: true })
    },
    suffers: [],
    async after(t, { url, dir }, works) {
      t.equal(await codeOf(resetTo(url, works)), 'SNAPSHOT_NOT_FOUND')
      t.equal(await codeOf(trmOf(works).step({ url, dir })), 'DATA_DAMAGED', 'nor is a new step begun')
    },
  },
  'the snapshots of Trm have lost contents': {
    harm({ dir }) {
      for (const folder of readdirSync(join(dir, 'trm/shadow.git/objects')))
        if (/^[0-9a-f]{2}$/.test(folder))
          rmSync(join(dir, 'trm/shadow.git/objects', folder), { recursive: true })
    },
    suffers: [],
    async after(t, { url }, works) {
      t.equal(await codeOf(resetTo(url, works)), 'SNAPSHOT_NOT_FOUND')
    },
  },
}

const root = t.testdir({ data: {}, plots: {}, projects: {}, copies: {} })
const works = everyWork(root)
const env = settingsOf(works)

t.before(async () => {
  for (const work of works) work.before?.()
})

t.test('a server is in use for a while', async (t) => {
  const dir = join(root, 'data')
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  for (let i = 0; i < 3; i++) for (const work of works) await work.step({ url, dir })
  await server.stop()
  for (const name of ['data', 'plots', 'projects'])
    cpSync(join(root, name), join(root, 'copies', name), { recursive: true })
})

/** Everything as it was when the server had stopped. */
function layBack(): string {
  for (const name of ['data', 'plots', 'projects']) {
    rmSync(join(root, name), { recursive: true, force: true })
    cpSync(join(root, 'copies', name), join(root, name), { recursive: true })
  }
  return join(root, 'data')
}

for (const [name, { harm, suffers, after }] of Object.entries(harms))
  verifies('fault:harmed', name, async (t) => {
    const dir = layBack()
    harm({ dir, root })
    const { url, server } = await startServer(t, { dir, env })
    const place = { url, dir, root }
    await after?.(t, place, works)
    const others = works.filter((work) => !suffers.includes(work.name))
    await checkAll(t, others, place, promisesOf(works))
    for (const work of others) t.ok(work)
    t.equal((await getJson(url, '/health')).status, 200)
    t.same(await server.stop(), { code: 0, signal: null })
  })

verifies('fault:harmed', 'the data of the server itself', async (t) => {
  const dir = layBack()
  overwrite(join(dir, 'server.db'))
  const bad = readFileSync(join(dir, 'server.db'))
  const server = spawnServer(t, { dir, env })
  t.match(await server.exited, { code: 1 })
  t.match(
    server.stderr,
    new RegExp(`^causeway: DATA_DAMAGED: .*server\\.db; ${codes.DATA_DAMAGED.remedy}`, 'm'),
  )
  t.ok(readFileSync(join(dir, 'server.db')).equals(bad))
  // Sessions and the audit are gone with it, and nothing else.
  for (const name of readdirSync(dir)) if (name.startsWith('server.db')) rmSync(join(dir, name))
  const again = await startServer(t, { dir, env })
  const others = works.filter(({ name }) => name !== 'server')
  await checkAll(t, others, { url: again.url, dir }, promisesOf(works))
})
