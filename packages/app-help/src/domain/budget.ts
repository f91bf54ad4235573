interface ShownDoc<Chunk extends { readonly text: string }> {
  readonly chunks: readonly Chunk[]
}

/** Omits chunks that do not fit, but never the first. */
export function limitText<Chunk extends { readonly text: string }, Doc extends ShownDoc<Chunk>>(
  docs: readonly Doc[],
  maxCharacters: number,
): { readonly docs: readonly Doc[]; readonly isTruncated: boolean } {
  let remaining = maxCharacters
  let isTruncated = false
  const included: Doc[] = []
  for (const doc of docs) {
    const chunks = doc.chunks.filter(({ text }) => {
      const fits = text.length <= remaining || remaining === maxCharacters
      if (fits) remaining -= text.length
      else isTruncated = true
      return fits
    })
    if (chunks.length > 0 || doc.chunks.length === 0) included.push({ ...doc, chunks })
  }
  return { docs: included, isTruncated }
}
