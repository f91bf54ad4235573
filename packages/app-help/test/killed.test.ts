import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { randomFrom } from '../../../test/random.ts'
import { verifies } from '../../../test/verifies.ts'
import { openSqliteStorage } from '../src/sqlite/sqlite-storage.ts'
import { everybody, library } from './help-kit.ts'
import { pageCount, roundOf } from './killed/rounds.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 600_000 : 120_000)

const program = fileURLToPath(new URL('./killed/building.ts', import.meta.url))
const minuteMs = 61_000

/** Builds in a process from a round on, kills it a while after its first round, and tells the last round that it said was done. */
async function killedBuild(
  t: Test,
  folder: string,
  { from, lives, lateMs }: { readonly from: number; readonly lives: number; readonly lateMs: number },
): Promise<number> {
  const args = ['--conditions=@causeway/source', program, folder, String(from), String(lives * minuteMs)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let last = from - 1
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (last < from) setTimeout(() => child.kill('SIGKILL'), lateMs)
    last = Number(line)
  })
  t.same(await once(child, 'close'), [null, 'SIGKILL'])
  return last
}

verifies('help:build:crash', 'a process that is killed at any moment of a build', async (t) => {
  const clock = { aheadMs: 0 }
  const help = library(t, {}, { open: (dir) => openSqliteStorage(dir, () => Date.now() + clock.aheadMs) })
  const random = randomFrom(20_261_122)
  let from = 1
  for (let lives = 0; lives < (isLong ? 30 : 4); lives++) {
    const said = await killedBuild(t, help.folder, { from, lives, lateMs: random.below(400) })
    const pages = await help.questions.pages(everybody)
    t.equal(pages.length, pageCount)
    const texts = await Promise.all(
      pages.map(({ doc_id }) => help.questions.page({ doc_id }, { from_line: 1, max_lines: 100 }, everybody)),
    )
    const rounds = new Set(texts.map(({ content }) => roundOf(content)))
    t.equal(rounds.size, 1, 'the index that answers is whole')
    const [round = 0] = rounds
    t.ok(round >= said, `what was said to be done is there: ${round}, said ${said}`)
    const found = await help.ask(`words of round ${round}`, { top_n: 50 })
    t.ok(found.results.length > 0)
    t.ok(
      found.results.every(({ chunks }) => chunks.every(({ text }) => text.includes(`round ${round}`))),
      'and its search finds its own text',
    )
    from = round + 2
  }
  clock.aheadMs = 100 * minuteMs
  await help.build()
  t.notOk(
    readdirSync(join(help.data, 'help')).some((name) => name.includes('.part')),
    'the next build clears away what was left',
  )
})
