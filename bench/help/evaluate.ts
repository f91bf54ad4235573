/** Runs every question of a set with every ranking method, over the documentation of the set. */
import { build } from '../../packages/app-help/src/build/build.ts'
import { listOwnSources, readSources } from '../../packages/app-help/src/build/source.ts'
import { defaultSize } from '../../packages/app-help/src/domain/chunk.ts'
import type { ListName } from '../../packages/app-help/src/domain/fuse.ts'
import { type EmbeddingSettings, openEmbedder } from '../../packages/app-help/src/embedding.ts'
import { addSynonyms, fusePages, rankLists } from '../../packages/app-help/src/search/search.ts'
import { openSqliteStorage } from '../../packages/app-help/src/storage/sqlite/sqlite-storage.ts'
import type { QuestionSet } from './questions.ts'
import { firstAnswer, type Score, score } from './score.ts'

/** Ranking methods, as the lists that are fused. */
export const ways = {
  'words: stems': ['stem'],
  'words: exact': ['exact'],
  'words: stems and synonyms': ['synonym'],
  'words: whole pages': ['doc'],
  'words: links': ['link'],
  'vectors: pieces': ['vector'],
  'vectors: pages': ['page'],
  lexical: ['stem', 'exact', 'synonym', 'doc', 'link', 'identifier'],
  vectors: ['vector', 'page'],
  hybrid: ['stem', 'exact', 'synonym', 'doc', 'link', 'identifier', 'vector', 'page'],
} as const satisfies Readonly<Record<string, readonly ListName[]>>

/** Name of a ranking method. */
export type Way = keyof typeof ways

/** Returns the scores by ranking method over all questions. `folder` is for the index. */
export async function evaluate(
  folder: string,
  { sources: entries, questions }: QuestionSet,
  embedding: EmbeddingSettings = { provider: 'lsa' },
): Promise<Readonly<Record<Way, Score>>> {
  const storage = openSqliteStorage(folder)
  const { signal } = new AbortController()
  const sources = entries.flatMap((entry) =>
    entry === 'own' ? listOwnSources().filter(({ is_internal }) => !is_internal) : readSources([entry], '/'),
  )
  const request = { sources, size: defaultSize, embedding, rebuild: false, holder: 'evaluation' }
  await build(request, { storage, now: Date.now, signal, progress() {} })
  const index = await storage.open()
  if (index === undefined) throw new Error('nothing was built')
  const embedder = openEmbedder(embedding, await index.readSpaceModel())
  try {
    const scope = { internal: false }
    const paths = new Map(
      (await index.listDocs(scope)).map((doc) => [doc.doc_id, `${doc.source}/${doc.file_path}`]),
    )
    const ranks = new Map<Way, (number | undefined)[]>()
    for (const { text, pages } of questions) {
      const vector = await embedder?.embedQuery(addSynonyms(text, embedding), { signal })
      const lists = await rankLists(index, { text, mode: 'hybrid', scope, vector })
      for (const [way, names] of Object.entries(ways) as [Way, readonly ListName[]][]) {
        const chosen = Object.fromEntries(names.map((name) => [name, lists[name] ?? []]))
        const found = (await fusePages(index, chosen, text)).map(({ doc_id }) => paths.get(doc_id) ?? '')
        ranks.set(way, [...(ranks.get(way) ?? []), firstAnswer(found, pages)])
      }
    }
    return Object.fromEntries([...ranks].map(([way, list]) => [way, score(list)])) as Record<Way, Score>
  } finally {
    await embedder?.close()
    await index.close()
    await storage.close()
  }
}
