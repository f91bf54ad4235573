/** Runs many inputs at a time, each made of a seed of its own, and keeps what was wrong. */
import type { Random } from '../random.ts'
import { randomFrom } from '../random.ts'

/** One input. */
export interface Shot {
  /** What it is; a report shows the beginning. */
  readonly what: string
  /** Sends it; gives what is wrong with the answer. */
  fire(): Promise<readonly string[]>
}

/** Makes an input of chance. */
export type Aim = (random: Random) => Shot

/** What a run came to. */
export interface RunReport {
  readonly count: number
  /** Inputs with faults, with the number by which each can be repeated; of faults that look alike, the first three. */
  readonly failures: readonly string[]
  readonly failed: number
  /** The slowest answers, as lines. */
  readonly slowest: readonly string[]
}

const atOnce = 16

/** Fires inputs `first` up to `first + count`; one that rejects is a fault too. */
export async function run(
  { seed, count, first = 0 }: { readonly seed: number; readonly count: number; readonly first?: number },
  aim: Aim,
): Promise<RunReport> {
  const failures: string[] = []
  const alike = new Map<string, number>()
  const slow: { ms: number; what: string }[] = []
  let failed = 0
  let next = first
  const one = async (): Promise<void> => {
    for (let at = next++; at < first + count; at = next++) {
      const shot = aim(randomFrom(seed + at * 7919))
      const what = legible(shot.what)
      const begun = performance.now()
      const faults = await shot.fire().catch((error: unknown) => [String((error as Error).stack)])
      slow.push({ ms: performance.now() - begun, what })
      if (slow.length > 200) slow.sort((a, b) => b.ms - a.ms).length = 10
      if (faults.length === 0) continue
      failed += 1
      const told = faults.join('; ').slice(0, 600)
      const form = told.replace(/[^a-zA-Z ]/g, '').slice(0, 90)
      alike.set(form, (alike.get(form) ?? 0) + 1)
      if ((alike.get(form) ?? 0) <= 3) failures.push(`${at}: ${what}: ${told}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  slow.sort((a, b) => b.ms - a.ms)
  return {
    count,
    failures,
    failed,
    slowest: slow.slice(0, 10).map(({ ms, what }) => `${Math.round(ms)} ms ${what}`),
  }
}

/** The beginning, with runs of one character and all that is not ASCII told in short. */
const legible = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]+/g, '¿')
    .replace(/(.{1,6}?)\1{8,}/g, '$1…')
    .slice(0, 400)
