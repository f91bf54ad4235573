/**
 * Memory that an app holds to be fast, and can do without: what it gives back is read or computed again by whoever asks for
 * it next, and nothing is lost. The server keeps each cache within its cap, and asks the cheapest first when memory is short.
 */
export interface Cache {
  /** `[a-z_]+`, once in its app; `/health` and `/metrics` tell it. */
  readonly name: string
  /** How much longer the next who asks for what was given back waits, milliseconds. */
  readonly costMs: number
  /** True where its bytes lie in the heap of the server's own thread; false for those of a worker or outside of heaps. */
  readonly isInHeap: boolean
  /** Bytes that it may hold; what is in use may exceed it. */
  readonly mostBytes: number
  /** Bytes that it holds now, estimated where nobody counts them. */
  bytes(): number | Promise<number>
  /** Gives back about so many bytes, what was used longest ago first and nothing that is in use. Gives the bytes. */
  shrink(bytes: number): number | Promise<number>
}
