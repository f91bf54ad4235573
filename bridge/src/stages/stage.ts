export interface Ends {
  toServer(line: Buffer): void
  toClient(json: Buffer): void
}

/** A feature between client and server. Returns the functions that its neighbours call. */
export type Stage = (neighbours: Ends) => Ends

/** Connects stages, the first one next to the client. */
export function chain(stages: readonly Stage[], ends: Ends): Ends {
  const built: Ends[] = []
  for (const [at, stage] of stages.entries())
    built.push(
      stage({
        toServer: (line) => (built[at + 1] ?? ends).toServer(line),
        toClient: (json) => (built[at - 1] ?? ends).toClient(json),
      }),
    )
  return {
    toServer: (line) => (built[0] ?? ends).toServer(line),
    toClient: (json) => (built.at(-1) ?? ends).toClient(json),
  }
}
