/** The open index and its embedder, exchanged for the next one as soon as there is one; calls under way keep theirs. */
import type { Embedder } from '@causeway/embed'
import { CausewayError } from '@causeway/protocol'
import { dataFailure } from '@causeway/store'
import { type EmbeddingSettings, openEmbedder } from '../embedding.ts'
import type { HelpStorage } from '../storage.ts'
import { resting } from './question-embedder.ts'
import type { Searchable } from './search.ts'

/** Gives the state that answers now to one call at a time or to many. */
export interface Reader {
  /** Runs with the newest state. Throws `HELP_NOT_BUILT` where there is none. */
  use<T>(work: (state: Searchable) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Held extends Searchable {
  readonly revision: number
  users: number
  isOld: boolean
}

/** Opens nothing before the first call. */
export function openReader(
  storage: HelpStorage,
  settings: EmbeddingSettings,
  now: () => number = () => performance.now(),
): Reader {
  let held: Held | undefined
  let opening: Promise<void> | undefined
  /** An endpoint keeps its connections and questions from one index to the next. */
  const opened = settings.provider === 'openai' ? openEmbedder(settings, undefined) : undefined
  const endpoint = opened && resting(opened, now)

  const letGo = async (old: Held): Promise<void> => {
    if (!old.isOld || old.users > 0) return
    await old.index.close()
    if (old.embedder !== endpoint) await old.embedder?.close()
  }
  const renew = async (): Promise<void> => {
    const index = await storage.open()
    if (index === undefined) return
    const embedder: Embedder | undefined = endpoint ?? openEmbedder(settings, await index.spaceModel())
    const old = held
    held = { index, embedder, settings, revision: index.facts.revision, users: 0, isOld: false }
    if (old === undefined) return
    old.isOld = true
    await letGo(old)
  }

  return {
    async use(work) {
      if (held?.revision !== (await storage.revision())) {
        opening ??= renew().finally(() => {
          opening = undefined
        })
        await opening
      }
      if (held === undefined) throw new CausewayError('HELP_NOT_BUILT', 'no documentation is indexed yet')
      const mine = held
      mine.users++
      try {
        return await work(mine)
      } catch (error) {
        throw dataFailure(error, `index-${mine.revision}.db`)
      } finally {
        mine.users--
        await letGo(mine)
      }
    },
    async close() {
      if (held !== undefined) {
        held.isOld = true
        await letGo(held)
        held = undefined
      }
      await endpoint?.close()
      await storage.close()
    },
  }
}
