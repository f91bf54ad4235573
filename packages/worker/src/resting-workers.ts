import type { WorkerLink } from './start-worker.ts'

/** The memory of workers, which is given back by ending those that have no call in hand: the next call starts another. */
export interface RestingWorkers {
  bytes(): Promise<number>
  /** Ends workers until so many bytes are given back, in the order in which they are listed; gives the bytes. */
  shrink(bytes: number): Promise<number>
}

/** The links are asked for at each call. */
export function restingWorkers(
  links: () => Iterable<Pick<WorkerLink<never>, 'isAlive' | 'pending' | 'bytes' | 'stop'> | undefined>,
): RestingWorkers {
  const alive = () => [...links()].flatMap((link) => (link?.isAlive ? link : []))
  return {
    async bytes() {
      const all = await Promise.all(alive().map((link) => link.bytes()))
      return all.reduce((sum, one) => sum + one, 0)
    },
    async shrink(bytes) {
      let given = 0
      for (const link of alive()) {
        if (given >= bytes) break
        if (link.pending > 0) continue
        const held = await link.bytes()
        // Somebody may have asked it meanwhile.
        if (link.pending > 0 || !link.isAlive) continue
        await link.stop()
        given += held
      }
      return given
    },
  }
}
