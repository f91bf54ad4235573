export { listTerms, stem, stopWords } from './domain/terms.ts'
export {
  createVectorTable,
  decodeVector,
  encodeVector,
  findNearest,
  normalize,
  type VectorTable,
} from './domain/vector.ts'
export {
  addParts,
  isUnspaced,
  listPairs,
  separateWords,
  splitIdentifier,
  splitWords,
} from './domain/words.ts'
export type { Embedder } from './embedder.ts'
export { type EmbeddingSpace, requireSameSpace, type WantedSpace } from './embedder.ts'
export { openEndpoint } from './endpoint.ts'
export type { EndpointOptions } from './endpoint-request.ts'
export { EmbedError } from './errors.ts'
export { decodeLsa, encodeLsa, type LsaModel, openLsa, trainLsa } from './lsa.ts'
