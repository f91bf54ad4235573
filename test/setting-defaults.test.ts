/** Packages work without the server, on defaults of their own: those of the settings. */
import { libraryDefaults } from '@causeway/recording'
import t from 'tap'
import { plotTimes } from '../packages/app-debrief/src/store.ts'
import { defaultSize } from '../packages/app-help/src/domain/chunk.ts'
import { defaultModel } from '../packages/app-help/src/settings.ts'
import { defaultPlaces } from '../packages/app-trm/src/runner/slots.ts'
import { type SettingKey, settings } from '../server/src/config.ts'

t.test('settings: each default equals the default of its app', async (t) => {
  const owned: Partial<Record<SettingKey, unknown>> = {
    snapshotCapBytes: libraryDefaults.snapshotBytes,
    recordingsCapBytes: libraryDefaults.recorder.bytes,
    recordingsMaxAgeDays: libraryDefaults.recorder.ageMs / 86_400_000,
    helpChunkSize: defaultSize.size,
    helpOverlapSize: defaultSize.overlap,
    embeddingsModel: defaultModel.name,
    plotSaveMs: plotTimes.saveAfterMs,
    plotCheckMs: plotTimes.checkEveryMs,
    trmParallel: defaultPlaces,
  }
  const declared = Object.keys(owned).map((key) => [key, settings[key as SettingKey].schema.parse(undefined)])
  t.same(Object.fromEntries(declared), owned)
  t.match(settings.embeddingsDimensions.defaultText, String(defaultModel.dimensions))
})
