/**
 * Preloaded into a server. On SIGUSR2 it runs the command in `CHAOS_FILE`: `workers` terminates every worker thread,
 * `clock <ms>` sets the offset of the process's clock from the real time.
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
  const [action, amount] = readFileSync(process.env.CHAOS_FILE, 'utf8').trim().split(' ')
  const count = alive.size
  if (action === 'workers') for (const worker of alive) worker.terminate()
  if (action === 'clock') offset = Number(amount)
  process.stderr.write(`${JSON.stringify({ msg: 'chaos', action, count })}\n`)
})
