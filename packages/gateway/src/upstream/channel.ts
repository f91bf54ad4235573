import type { Message } from '@causeway/protocol'

/** The server lost the session, so it has not processed the request. */
export class SessionExpired extends Error {}

export interface ChannelHandlers {
  /** `request` is the id of the request on whose response stream the message arrived. */
  onMessage(message: Message, request?: number): void
  /** Called if the response will not arrive. */
  onRequestLost(request: number, error: Error): void
  /** Called once when the connection ends. */
  onClose(error: Error): void
}

export interface Channel {
  /** Whether cancelling a request of MCP 2026-07-28 closes its stream instead of sending a notification. */
  readonly hasRequestStreams: boolean
  /** Lines, oldest first. */
  readonly stderr: readonly string[]
  readonly pid: number | undefined
  start(handlers: ChannelHandlers): Promise<void>
  /** Rejects if the message could not be sent. `signal` closes the stream of a request. */
  send(message: Message, signal?: AbortSignal): Promise<void>
  /** Called after `initialize`. */
  useVersion(version: string): void
  close(): Promise<void>
}
