export interface MessageHandlers {
  toServer(line: Buffer): void
  toClient(json: Buffer): void
}

/** A feature between client and server. Returns the functions that its neighbours call. */
export type Stage = (next: MessageHandlers) => MessageHandlers

/** Connects stages, the first one next to the client. */
export function chain(stages: readonly Stage[], endpoints: MessageHandlers): MessageHandlers {
  const handlers: MessageHandlers[] = []
  for (const [index, stage] of stages.entries())
    handlers.push(
      stage({
        toServer: (line) => (handlers[index + 1] ?? endpoints).toServer(line),
        toClient: (json) => (handlers[index - 1] ?? endpoints).toClient(json),
      }),
    )
  return {
    toServer: (line) => (handlers[0] ?? endpoints).toServer(line),
    toClient: (json) => (handlers.at(-1) ?? endpoints).toClient(json),
  }
}
