/** The part of pino-roll that is used here; the package comes without types. */
declare module 'pino-roll' {
  import type { EventEmitter } from 'node:events'

  /** A file that is followed by the next one when it is full. */
  interface RollingFile extends EventEmitter {
    write(line: string): boolean
    /** Writes what is left, then tells `close`. */
    end(): void
  }

  /** Opens the file of the highest number, or the first one. */
  export default function roll(options: {
    readonly file: string
    /** `5m`, `1024b` */
    readonly size: string
    readonly limit: { readonly count: number; readonly removeOtherLogFiles: boolean }
    readonly mkdir: boolean
    readonly mode: number
    readonly sync: boolean
    readonly minLength: number
    readonly periodicFlush: number
  }): Promise<RollingFile>
}
