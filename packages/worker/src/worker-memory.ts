import type { WorkerLink } from './worker-link.ts'

/** Memory of workers, released by stopping those without pending calls. */
export type WorkerMemory = ReturnType<typeof createWorkerMemory>

export function createWorkerMemory(
  links: () => Iterable<Pick<WorkerLink<never>, 'isAlive' | 'pending' | 'bytes' | 'stop'> | undefined>,
) {
  const listAlive = () => [...links()].flatMap((link) => (link?.isAlive ? link : []))
  return {
    async bytes(): Promise<number> {
      const bytes = await Promise.all(listAlive().map((link) => link.bytes()))
      return bytes.reduce((sum, size) => sum + size, 0)
    },
    async shrink(bytes: number): Promise<number> {
      let releasedBytes = 0
      for (const link of listAlive()) {
        if (releasedBytes >= bytes) break
        if (link.pending > 0) continue
        const size = await link.bytes()
        if (link.pending > 0 || !link.isAlive) continue
        await link.stop()
        releasedBytes += size
      }
      return releasedBytes
    },
  }
}
