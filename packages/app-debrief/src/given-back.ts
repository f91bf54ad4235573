/** What the open plots take of the memory, and giving it back. */
import { isCausewayError } from '@causeway/protocol'
import type { Plot } from './plot.ts'

/** Something held in memory that can be given back. */
export interface Holding {
  bytes(): Promise<number>
  /** Gives back about so many bytes, the longest unused first and nothing that is in use; gives the bytes. */
  shrink(bytes: number): Promise<number>
}

/** A plot that was asked for within this time is in use, ms. */
const inUseMs = 1000

/** The plots that one side holds: this thread, or workers. */
export const heldPlots = (plots: () => readonly Plot[]): Holding => ({
  async bytes() {
    const all = await Promise.all(plots().map((plot) => plot.memoryBytes()))
    return all.reduce((sum, one) => sum + one, 0)
  },
  async shrink(bytes) {
    let given = 0
    const longest = [...plots()].sort((a, b) => b.idleMs() - a.idleMs())
    for (const plot of longest) {
      if (given >= bytes) break
      const idleMs = plot.idleMs()
      if (!plot.isReleasable || (idleMs >= 0 && idleMs < inUseMs)) continue
      const bytesHeld = await plot.memoryBytes()
      // One that was closed meanwhile has given all back by itself.
      await plot.release().catch((error: unknown) => {
        if (!isCausewayError(error) || error.code !== 'PLOT_NOT_FOUND') throw error
      })
      given += bytesHeld
    }
    return given
  },
})

/** The events of the plots that views may still take up. */
export const heldEvents = (plots: () => readonly Plot[]): Holding => ({
  bytes: async () => plots().reduce((sum, { live }) => sum + live.characters, 0),
  async shrink(bytes) {
    let given = 0
    for (const { live } of plots()) if (given < bytes) given += live.shrink(bytes - given)
    return given
  },
})
