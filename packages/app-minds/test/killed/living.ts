/** A process in which two minds decide until the process is killed. It prints the results to standard output. */
import { openForTest } from '@causeway/app-kit/testing'
import app from '../../src/index.ts'
import { observeWell } from './wells.ts'

const [dir = '', from = '0'] = process.argv.slice(2)
const opened = await openForTest(app, { dir, now: Date.now })
const client = opened.client()
const nextStep = { step: Number(from) }

async function decideForever(mind_id: string): Promise<never> {
  for (;;) {
    const step = nextStep.step++
    const request_id = `${mind_id}-${step}`
    const answer = await client.call('decide_action', {
      mind_id,
      observation: observeWell(mind_id, step),
      request_id,
    })
    process.stdout.write(`${JSON.stringify({ request_id, answer })}\n`)
    if (step % 5 === 0) {
      const consolidation = await client.call('consolidate_memories', { mind_id, request_id })
      process.stdout.write(`${JSON.stringify({ slept: consolidation.consolidated_count })}\n`)
    }
  }
}

await Promise.all(['mara', 'ben'].map(decideForever))
