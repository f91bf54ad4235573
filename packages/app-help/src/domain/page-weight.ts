import type { FusedDoc } from './fuse.ts'

const namedSourceFactor = 1.5

/** Decision records are short and cover many subjects, so they would outrank the guides. */
const recordFactor = 0.5

/** Common folder names (https://adr.github.io). */
const recordFolder = /(?:^|\/)(?:decisions|decision-records|adrs?)\//i

const recordWords: ReadonlySet<string> = new Set([
  'adr',
  'adrs',
  'decided',
  'decision',
  'decisions',
  'rationale',
])

/** Returns the sources that a query names ("in fastify"), or an empty set if it names all. */
export function findNamedSources(words: readonly string[], sources: readonly string[]): ReadonlySet<string> {
  const wordSet = new Set(words)
  const namedSources = sources.filter((source) => wordSet.has(parsePackageName(source)))
  return new Set(namedSources.length === sources.length ? [] : namedSources)
}

/**
 * Returns the factor of a page's score: above 1 for a named source, below 1 for a decision record that is not
 * requested.
 */
export function weighPage(
  { source, file_path }: { readonly source: string; readonly file_path: string },
  namedSources: ReadonlySet<string>,
  words: readonly string[],
): number {
  const isRecord = recordFolder.test(file_path) && !words.some((word) => recordWords.has(word))
  return (namedSources.has(source) ? namedSourceFactor : 1) * (isRecord ? recordFactor : 1)
}

export function rankByWeight(fusedDocs: readonly FusedDoc[], weigh: (docId: number) => number): FusedDoc[] {
  return fusedDocs
    .map((doc) => ({ ...doc, score: doc.score * weigh(doc.doc_id) }))
    .sort((a, b) => b.score - a.score || a.doc_id - b.doc_id)
}

/** Returns `fastify` for `pkg:fastify` and `npm:fastify@5.1.0`, and `core` for `pkg:@scope/core`. */
const parsePackageName = (source: string): string =>
  (source.split(/[:/]/).at(-1) ?? '').replace(/@.*$/, '').toLowerCase()
