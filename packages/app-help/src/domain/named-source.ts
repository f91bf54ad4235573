/** Questions that name what they are about: "in fastify", "of undici". */
import type { FusedDoc } from './fuse.ts'

/** How much more a page of a source counts that the question names. */
const preference = 1.5

/** Those of the sources whose name is a word of the question; none where it names all. */
export function namedSources(words: readonly string[], sources: readonly string[]): ReadonlySet<string> {
  const asked = new Set(words)
  const named = sources.filter((source) => asked.has(nameOf(source)))
  return new Set(named.length === sources.length ? [] : named)
}

/** Pages in their new order: those of the named sources count more. `sourceOf` knows every page. */
export function preferSources(
  fused: readonly FusedDoc[],
  named: ReadonlySet<string>,
  sourceOf: (docId: number) => string | undefined,
): FusedDoc[] {
  return fused
    .map((doc) => (named.has(sourceOf(doc.doc_id) ?? '') ? { ...doc, score: doc.score * preference } : doc))
    .sort((a, b) => b.score - a.score || a.doc_id - b.doc_id)
}

/** `fastify` of `pkg:fastify`, `core` of `pkg:@scope/core`. */
const nameOf = (source: string): string => (source.split(/[:/]/).at(-1) ?? '').toLowerCase()
