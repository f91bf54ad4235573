/** A socket of an app's own: a conversation by WebSocket text frames, for programs that speak the app's command protocol. */
import type { ChannelContext } from './context.ts'
import type { Variables } from './uri-template.ts'

/** One open connection, as the app sees it. */
export interface Socket {
  /** Names the connection, and with it the client's state where the client names none. */
  readonly id: string
  /** Variables of the declared path. */
  readonly variables: Variables
  /** Aborts when the connection has ended, by whichever side; what was kept for it can go. */
  readonly signal: AbortSignal
  /** Sends one text frame; resolves when the system has taken it. A frame to a connection that has ended is dropped. */
  send(text: string): Promise<void>
  /** Ends the connection; the reason is shown to the client, 123 bytes at most. */
  close(reason?: string): void
}

/** The declaration of a socket. */
export interface SocketDeclaration<Store, Session> {
  /** One sentence: what is spoken on it. */
  readonly about: string
  /** The scope that a token needs for it; default: `write`. The app's own tools that it calls need theirs besides. */
  readonly scope?: 'read' | 'write' | 'execute'
  /** Runs once when a client has connected, before its first frame is read. */
  open?(socket: Socket, ctx: ChannelContext<Store, Session>): void | Promise<void>
  /**
   * Runs for each text frame; the next frame of the same connection is read when it is done, so answers keep the order.
   * A thrown error is sent as `{"error": {code, message, remedy, …}}`, and the connection stays open.
   */
  message(text: string, socket: Socket, ctx: ChannelContext<Store, Session>): void | Promise<void>
}

/** A socket as the host knows it: mounted below `/api/apps/<app>`, and at the root of the app's own port. */
export interface AppSocket {
  /** Path with variables, `/` or `/plots/{plot}`. */
  readonly path: string
  readonly about: string
  readonly scope?: 'read' | 'write' | 'execute'
  open(socket: Socket, ctx: ChannelContext): Promise<void>
  message(text: string, socket: Socket, ctx: ChannelContext): Promise<void>
}
