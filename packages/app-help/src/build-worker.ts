/** The worker that builds, exports and imports, for as long as that takes. */
import { serve } from '@causeway/worker'
import { type BuildRequest, build } from './build/build.ts'
import { openStorage, type StorageSettings } from './open-storage.ts'
import type { BuildReport } from './storage.ts'

/** Its methods. */
export interface BuildMethods {
  build(request: { readonly storage: StorageSettings; readonly request: BuildRequest }): BuildReport
}

serve<BuildMethods>(
  {
    async build({ storage: settings, request }, { signal, progress }) {
      const storage = await openStorage(settings)
      try {
        return await build(request, { storage, now: Date.now, signal, progress })
      } finally {
        await storage.close()
      }
    },
  },
  { failure: 'building the documentation failed' },
)
