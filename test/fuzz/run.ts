/** Runs cases concurrently, each generated from its own seed, and collects the faults. */
import type { Random } from '../random.ts'
import { randomFrom } from '../random.ts'

/** A generated request. */
export interface FuzzCase {
  /** Description, which reports truncate. */
  readonly what: string
  /** Sends the request and returns the faults of the response. */
  send(): Promise<readonly string[]>
}

/** Generates a case. */
export type MakeCase = (random: Random) => FuzzCase

/** The result of a run. */
export interface RunReport {
  readonly count: number
  /** Cases with faults, each with the number that repeats it. Lists at most three similar faults. */
  readonly failures: readonly string[]
  readonly failed: number
  /** The slowest cases, as lines. */
  readonly slowest: readonly string[]
}

const concurrency = 16

/** Runs the cases from `first` to `first + count`. A case that rejects is a fault. */
export async function run(
  { seed, count, first = 0 }: { readonly seed: number; readonly count: number; readonly first?: number },
  makeCase: MakeCase,
): Promise<RunReport> {
  const failures: string[] = []
  const similar = new Map<string, number>()
  const slow: { ms: number; what: string }[] = []
  let failed = 0
  let next = first
  const worker = async (): Promise<void> => {
    for (let at = next++; at < first + count; at = next++) {
      const fuzzCase = makeCase(randomFrom(seed + at * 7919))
      const what = abbreviate(fuzzCase.what)
      const begun = performance.now()
      const faults = await fuzzCase.send().catch((error: unknown) => [String((error as Error).stack)])
      slow.push({ ms: performance.now() - begun, what })
      if (slow.length > 200) slow.sort((a, b) => b.ms - a.ms).length = 10
      if (faults.length === 0) continue
      failed += 1
      const description = faults.join('; ').slice(0, 600)
      const form = description.replace(/[^a-zA-Z ]/g, '').slice(0, 90)
      similar.set(form, (similar.get(form) ?? 0) + 1)
      if ((similar.get(form) ?? 0) <= 3) failures.push(`${at}: ${what}: ${description}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  slow.sort((a, b) => b.ms - a.ms)
  return {
    count,
    failures,
    failed,
    slowest: slow.slice(0, 10).map(({ ms, what }) => `${Math.round(ms)} ms ${what}`),
  }
}

/** Shortens repetitions and non-ASCII text, and truncates the result. */
const abbreviate = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]+/g, '¿')
    .replace(/(.{1,6}?)\1{8,}/g, '$1…')
    .slice(0, 400)
