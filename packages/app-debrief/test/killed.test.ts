import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { countedPlot } from './counted.ts'
import { emptyFolders, openOver } from './debrief-kit.ts'

/** Processes that are killed, each after some saves. */
const rounds = process.env.CAUSEWAY_LONG === undefined ? 5 : 200
if (rounds > 5) t.setTimeout(900_000)

const script = fileURLToPath(new URL('counting.ts', import.meta.url))

/** Lets a process count and kills it in the middle; gives where it began and what it had answered last. */
async function killedAfter(dir: string, round: number, numbers: number): Promise<readonly [number, number]> {
  const child = spawn(process.execPath, ['--conditions=@causeway/source', script, dir, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let [began, last, heard] = [0, 0, 0]
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('begins ')) began = Number(line.slice(7))
    else {
      last = Number(line)
      heard += 1
    }
    if (heard >= numbers) child.kill('SIGKILL')
  }
  await exited
  return [began, last]
}

verifies('debrief:save:killed', async (t) => {
  const dir = emptyFolders(t)
  const file = join(dir, 'plots', 'counted.plot.json')
  writeFileSync(file, countedPlot(0))
  let answered = 0
  for (let round = 0; round < rounds; round += 1) {
    const [began, last] = await killedAfter(dir, round, 1 + ((round * 7) % 13))
    t.ok(began >= answered, `nothing answered is lost: ${began} after ${answered}`)
    answered = last
    const text = readFileSync(file, 'utf8')
    const { count } = JSON.parse(text).features[0].properties
    t.ok(text === countedPlot(count) && count <= last + 1, `the file is revision ${count} of ${last}`)
  }
  const later = await openOver(t, dir, { now: () => Date.now() + rounds * 660_000 })
  const client = later.client()
  await client.ask('save_plot')
  t.same(readdirSync(join(dir, 'plots')), ['counted.plot.json'], 'nothing half written stays')
  t.ok(later.file('counted').startsWith(countedPlot(answered).slice(0, 40)))
})
