/**
 * Prints conversations of several towns, to be read as a player would read them:
 * `node --conditions=@causeway/source test/town/print-conversations.ts [count] [seed]`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import minds from '@causeway/app-minds'
import type { Utterance } from './body.ts'
import { type PresetName, presetNames } from './preset.ts'
import { createRandomSource } from './random-source.ts'
import { createMindDeciders, runTown } from './run.ts'

/** Simulates a town for half a day in this process. Returns its conversations. */
async function listConversations(
  preset: PresetName,
  seed: number,
): Promise<readonly (readonly Utterance[])[]> {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-conversations-'))
  const app = await openForTest(minds, { dir, settings: {}, now: Date.now })
  const client = app.client()
  try {
    const options = { preset, seed, days: 0.75 }
    const call = async (tool: string, args: object) =>
      (await client.call(tool, args)) as Record<string, unknown>
    const { transcripts } = await runTown(options, createMindDeciders(call, options))
    return transcripts.filter((utterances) => utterances.length > 0)
  } finally {
    await app.close()
    rmSync(dir, { recursive: true })
  }
}

const [count = '40', firstSeed = '1'] = process.argv.slice(2)
const random = createRandomSource(Number(firstSeed))
const perTown = Math.ceil(Number(count) / presetNames.length)
for (const [n, preset] of presetNames.entries()) {
  const seed = Number(firstSeed) + n
  const all = [...(await listConversations(preset, seed))]
  for (let printed = 0; printed < perTown && all.length > 0; printed++) {
    const [talk = []] = all.splice(random.below(all.length), 1)
    process.stdout.write(`\n--- ${preset}, seed ${seed}, conversation ${printed + 1}\n`)
    for (const { speaker, text, time } of talk) process.stdout.write(`${time} ${speaker}: ${text}\n`)
  }
}
