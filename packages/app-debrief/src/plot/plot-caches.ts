import type { Cache } from '@causeway/app-kit'
import { DebriefError } from '../errors.ts'
import type { Plot } from './plot.ts'

type CacheMemory = Pick<Cache, 'bytes' | 'shrink'>

const minIdleMs = 1000

export const createPlotCache = (list: () => readonly Plot[]): CacheMemory => ({
  async bytes() {
    const all = await Promise.all(list().map((plot) => plot.memoryBytes()))
    return all.reduce((sum, one) => sum + one, 0)
  },
  async shrink(bytes) {
    let freed = 0
    const oldestFirst = [...list()].sort((a, b) => b.idleMs() - a.idleMs())
    for (const plot of oldestFirst) {
      if (freed >= bytes) break
      const idleMs = plot.idleMs()
      if (!plot.isReleasable || (idleMs >= 0 && idleMs < minIdleMs)) continue
      const plotBytes = await plot.memoryBytes()
      await plot.release().catch((error: unknown) => {
        // A plot that was closed has already released its memory.
        if (!DebriefError.is(error, 'PLOT_NOT_FOUND')) throw error
      })
      freed += plotBytes
    }
    return freed
  },
})

export const createEventCache = (list: () => readonly Plot[]): CacheMemory => ({
  bytes: async () => list().reduce((sum, { live }) => sum + live.characters, 0),
  async shrink(bytes) {
    let freed = 0
    for (const { live } of list()) if (freed < bytes) freed += live.shrink(bytes - freed)
    return freed
  },
})
