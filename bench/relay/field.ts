import { setTimeout as pause } from 'node:timers/promises'
import type { Candidate } from '../rounds.ts'

/** Contenders of which one may drop out without stopping the others. */
export interface Field {
  /** The run of each, with what it is said to do where it fails; once out, it gives undefined. */
  candidates<C extends { readonly name: string }, T>(
    contenders: readonly C[],
    doing: string,
    run: (contender: C) => Promise<T>,
  ): Candidate<T | undefined>[]
  /** A line for each that dropped out. */
  readonly dropped: readonly string[]
}

/** Starts with everybody in; each run may take this long, ms. */
export function createField(timeoutMs: number): Field {
  const out = new Set<string>()
  const dropped: string[] = []
  return {
    dropped,
    candidates: (contenders, doing, run) =>
      contenders.map((contender) => ({
        name: contender.name,
        async run() {
          if (out.has(contender.name)) return undefined
          try {
            return await within(timeoutMs, run(contender))
          } catch (error) {
            out.add(contender.name)
            dropped.push(`${contender.name} dropped out while ${doing}: ${(error as Error).message}`)
            return undefined
          }
        },
      })),
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const late = pause(ms, undefined, { signal: done.signal }).then(() => {
    throw new Error(`it took more than ${ms} ms`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}
