import type { FusedDoc } from './fuse.ts'

/** Factor for pages of a source that the query names. */
const preference = 1.5

/** Returns the sources that a query names ("in fastify"), or none if it names all. */
export function namedSources(words: readonly string[], sources: readonly string[]): ReadonlySet<string> {
  const wanted = new Set(words)
  const named = sources.filter((source) => wanted.has(packageName(source)))
  return new Set(named.length === sources.length ? [] : named)
}

/** Ranks pages of the named sources higher. */
export function preferSources(
  fused: readonly FusedDoc[],
  named: ReadonlySet<string>,
  getSource: (docId: number) => string | undefined,
): FusedDoc[] {
  return fused
    .map((doc) => (named.has(getSource(doc.doc_id) ?? '') ? { ...doc, score: doc.score * preference } : doc))
    .sort((a, b) => b.score - a.score || a.doc_id - b.doc_id)
}

/** Returns `fastify` for `pkg:fastify` and `npm:fastify@5.1.0`, and `core` for `pkg:@scope/core`. */
const packageName = (source: string): string =>
  (source.split(/[:/]/).at(-1) ?? '').replace(/@.*$/, '').toLowerCase()
