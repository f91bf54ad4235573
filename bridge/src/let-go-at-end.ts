import type { Socket } from 'node:net'
import symbols from 'undici/lib/core/symbols.js'
import type { Connector } from './proxy.ts'

/** undici's reader of the answers that come by one socket. */
interface Parser {
  readonly llhttp: { llhttp_resume(ptr: number): void }
  readonly ptr: number
  paused: boolean
  resume(): void
}

/**
 * Connections whose answer is let go when the server ends them. undici 7 fails an assertion in an event of the socket, and
 * the process with it, where such an answer is held back (https://github.com/nodejs/undici/issues/5360).
 */
export const letGoAtEnd =
  (connect: Connector): Connector =>
  (wanted, callback) =>
    connect(wanted, (...result) => {
      const [, socket] = result
      // Before undici listens for it. Everything that came was read by then.
      socket?.once('end', () => letGo(parserOf(socket)))
      callback(...result)
    })

/** Absent once undici has let the socket go. */
const parserOf = (socket: Socket): Parser | null | undefined =>
  (socket as Socket & { readonly [symbols.kParser]?: Parser | null })[symbols.kParser]

function letGo(parser: Parser | null | undefined): void {
  if (!parser?.paused) return
  parser.resume()
  if (!parser.paused) return
  // A body that only the end of its connection ends pauses anew.
  parser.llhttp.llhttp_resume(parser.ptr)
  parser.paused = false
}
