import type { Cache } from '@causeway/app-kit'
import { DebriefError } from '../errors.ts'
import type { Plot } from './plot.ts'

type CacheMemory = Pick<Cache, 'bytes' | 'shrink'>

const minIdleMs = 1000

export const createPlotCache = (listPlots: () => readonly Plot[]): CacheMemory => ({
  async bytes() {
    const sizes = await Promise.all(listPlots().map((plot) => plot.memoryBytes()))
    return sizes.reduce((sum, size) => sum + size, 0)
  },
  async shrink(bytes) {
    let freedBytes = 0
    const plotsByIdleTime = [...listPlots()].sort((a, b) => b.idleMs() - a.idleMs())
    for (const plot of plotsByIdleTime) {
      if (freedBytes >= bytes) break
      const idleMs = plot.idleMs()
      if (!plot.isReleasable || (idleMs >= 0 && idleMs < minIdleMs)) continue
      const plotBytes = await plot.memoryBytes()
      await plot.release().catch((error: unknown) => {
        // A plot that was closed has already released its memory.
        if (!DebriefError.is(error, 'PLOT_NOT_FOUND')) throw error
      })
      freedBytes += plotBytes
    }
    return freedBytes
  },
})

export const createEventCache = (listPlots: () => readonly Plot[]): CacheMemory => ({
  bytes: async () => listPlots().reduce((sum, { live }) => sum + live.characters, 0),
  async shrink(bytes) {
    let freedBytes = 0
    for (const { live } of listPlots()) if (freedBytes < bytes) freedBytes += live.shrink(bytes - freedBytes)
    return freedBytes
  },
})
