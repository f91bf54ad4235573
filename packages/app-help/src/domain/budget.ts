interface ShownDoc<Chunk extends { readonly text: string }> {
  readonly chunks: readonly Chunk[]
}

/** Limits the text of results. Omits chunks that do not fit, but never the first. */
export function withinBudget<Chunk extends { readonly text: string }, Doc extends ShownDoc<Chunk>>(
  docs: readonly Doc[],
  maxCharacters: number,
): { readonly docs: readonly Doc[]; readonly isCut: boolean } {
  let left = maxCharacters
  let isCut = false
  const included: Doc[] = []
  for (const doc of docs) {
    const chunks = doc.chunks.filter(({ text }) => {
      const fits = text.length <= left || left === maxCharacters
      if (fits) left -= text.length
      else isCut = true
      return fits
    })
    if (chunks.length > 0 || doc.chunks.length === 0) included.push({ ...doc, chunks })
  }
  return { docs: included, isCut }
}
