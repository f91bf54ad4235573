import type { WorkerLink } from './worker-link.ts'

/** Memory of workers, released by stopping those without pending calls. */
export type WorkerMemory = ReturnType<typeof createWorkerMemory>

export function createWorkerMemory(
  links: () => Iterable<Pick<WorkerLink<never>, 'isAlive' | 'pending' | 'bytes' | 'stop'> | undefined>,
) {
  const findAlive = () => [...links()].flatMap((link) => (link?.isAlive ? link : []))
  return {
    async bytes(): Promise<number> {
      const bytes = await Promise.all(findAlive().map((link) => link.bytes()))
      return bytes.reduce((sum, one) => sum + one, 0)
    },
    /** Returns the released bytes. */
    async shrink(bytes: number): Promise<number> {
      let released = 0
      for (const link of findAlive()) {
        if (released >= bytes) break
        if (link.pending > 0) continue
        const size = await link.bytes()
        if (link.pending > 0 || !link.isAlive) continue
        await link.stop()
        released += size
      }
      return released
    },
  }
}
