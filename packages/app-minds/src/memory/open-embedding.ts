import { createHash } from 'node:crypto'
import { type Env, numberSetting } from '@causeway/app-kit'
import { decodeLsa, openEndpoint, openLsa } from '@causeway/embed'
import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import type { MindsFile } from '../store/minds-file.ts'
import { toText } from '../wire/validation.ts'
import { Embedding } from './embedding.ts'
import { everydayDimensions, everydayLanguage } from './everyday-language.ts'
import type { SearchMethods } from './search-worker.ts'

type ModelStore = Pick<MindsFile, 'readModel' | 'saveModel'>

/** Returns the vector space of the configured endpoint or, if no URL is set, of everyday language. */
export function openEmbedding(settings: Env['settings'], store: ModelStore): Embedding {
  const url = toText(settings.mindsEmbeddingsUrl)
  if (url === undefined) return openEverydayEmbedding(store)
  const embedder = openEndpoint({
    baseUrl: url,
    model: toText(settings.mindsEmbeddingsModel) ?? 'text-embedding-3-small',
    dimensions: numberSetting(settings, 'mindsEmbeddingsDimensions') ?? 1536,
    apiKey: toText(settings.mindsEmbeddingsKey),
    timeoutMs: 10_000,
    maxAttempts: 2,
  })
  const { fingerprint, provider, model, dimensions: width } = embedder.space
  const name = `${provider} ${model}, ${width} dimensions`
  return new Embedding({ id: fingerprint.slice(0, 32), name, width }, async () => embedder)
}

/** On first use, reads the model from the data file, or trains and stores it. */
function openEverydayEmbedding(store: ModelStore): Embedding {
  const hash = createHash('sha256').update(everydayLanguage.join('\n')).digest('hex').slice(0, 16)
  const id = `everyday-${everydayDimensions}-${hash}`
  const name = `lsa everyday language, ${everydayDimensions} dimensions`
  return new Embedding({ id, name, width: everydayDimensions }, async (signal) => {
    const storedModel = await store.readModel(id)
    if (storedModel !== undefined) return openLsa(decodeLsa(storedModel))
    const model = await trainModel(signal)
    await store.saveModel(id, model)
    return openLsa(decodeLsa(model))
  })
}

async function trainModel(signal: AbortSignal): Promise<Uint8Array> {
  const link = new WorkerLink<SearchMethods>(resolveWorkerFile('search-worker', import.meta.url), {
    name: 'the worker that trains the vector space of memories',
  })
  try {
    return await link.call('train', undefined, { signal })
  } finally {
    await link.stop()
  }
}
