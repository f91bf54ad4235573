/** Cuts what is told to what a caller can take. */

/** A page of a result, with the pieces that are shown of it. */
export interface ShownDoc<Chunk extends { readonly text: string }> {
  readonly chunks: readonly Chunk[]
}

/**
 * As much text as fits: pieces are taken in order of their pages, and one that does not fit any more is left out. The
 * very first piece is always shown, and whole.
 */
export function withinBudget<Chunk extends { readonly text: string }, Doc extends ShownDoc<Chunk>>(
  docs: readonly Doc[],
  mostCharacters: number,
): { readonly docs: readonly Doc[]; readonly isCut: boolean } {
  let left = mostCharacters
  let isCut = false
  const kept: Doc[] = []
  for (const doc of docs) {
    const chunks = doc.chunks.filter(({ text }) => {
      const fits = text.length <= left || left === mostCharacters
      if (fits) left -= text.length
      else isCut = true
      return fits
    })
    if (chunks.length > 0 || doc.chunks.length === 0) kept.push({ ...doc, chunks })
  }
  return { docs: kept, isCut }
}
