/** Preloaded into a server: logs every connection that it opens to stderr. */
import { Socket } from 'node:net'

const connect = Socket.prototype.connect
Socket.prototype.connect = function guarded(...args) {
  const [options] = args.flat()
  const { host, port, path } = typeof options === 'object' && options !== null ? options : { port: options }
  process.stderr.write(
    `${JSON.stringify({ msg: 'connection opened', host: host ?? path ?? null, port: port ?? null })}\n`,
  )
  return Reflect.apply(connect, this, args)
}
