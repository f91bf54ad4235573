/**
 * Loaded into a server before it starts. At SIGUSR2 it reads a line of `CHAOS_FILE` and does what it says: `workers` ends every
 * worker thread where it stands, `clock <ms>` sets the clock of the process so far from the true one.
 */
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const alive = new Set()
const RealWorker = threads.Worker
threads.Worker = class extends RealWorker {
  constructor(...args) {
    super(...args)
    alive.add(this)
    this.once('exit', () => alive.delete(this))
  }
}
syncBuiltinESMExports()

const RealDate = Date
let offset = 0
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset)
    else super(...args)
  }
  static now() {
    return RealDate.now() + offset
  }
}

process.on('SIGUSR2', () => {
  const [deed, amount] = readFileSync(process.env.CHAOS_FILE, 'utf8').trim().split(' ')
  const count = alive.size
  if (deed === 'workers') for (const worker of alive) worker.terminate()
  if (deed === 'clock') offset = Number(amount)
  process.stderr.write(`${JSON.stringify({ msg: 'chaos', deed, count })}\n`)
})
