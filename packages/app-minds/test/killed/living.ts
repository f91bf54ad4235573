/** A process in which two minds decide until the process is killed. It prints the results to standard output. */
import { openForTest } from '@causeway/app-kit/testing'
import app from '../../src/index.ts'
import { wellSeen } from './wells.ts'

const [dir = '', from = '0'] = process.argv.slice(2)
const opened = await openForTest(app, { dir, now: Date.now })
const client = opened.client()
const life = { step: Number(from) }

async function live(mind_id: string): Promise<never> {
  for (;;) {
    const step = life.step++
    const request_id = `${mind_id}-${step}`
    const answer = await client.call('decide_action', {
      mind_id,
      observation: wellSeen(mind_id, step),
      request_id,
    })
    process.stdout.write(`${JSON.stringify({ request_id, answer })}\n`)
    if (step % 5 === 0) {
      const slept = await client.call('consolidate_memories', { mind_id, request_id })
      process.stdout.write(`${JSON.stringify({ slept: slept.consolidated_count })}\n`)
    }
  }
}

await Promise.all(['mara', 'ben'].map(live))
