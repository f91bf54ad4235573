/** What the worker beside the minds does: it searches big ones, and trains the space of vectors. */
import type { VectorAnswer, VectorQuestion } from './vector-cache.ts'

/** Methods of the worker. */
export interface SearchMethods {
  open(args: { readonly dir: string; readonly mostBytes: number }): void
  search(question: VectorQuestion): VectorAnswer
  /** The space of everyday language, trained: bytes of the model. */
  train(args: undefined): Promise<Uint8Array>
  drop(args: { readonly mindSeq: number }): void
}
