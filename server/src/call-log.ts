import type { Log } from '@causeway/app-kit'
import type { Logger } from 'pino'

/** A log that names the call in each line, made when the first is written: most calls write none of their own. */
export class CallLog implements Log {
  readonly #log: Logger
  readonly #names: object
  #own: Logger | undefined

  constructor(log: Logger, names: object) {
    this.#log = log
    this.#names = names
  }

  get #line(): Logger {
    this.#own ??= this.#log.child(this.#names)
    return this.#own
  }

  debug(fields: object, message: string): void {
    this.#line.debug(fields, message)
  }

  info(fields: object, message: string): void {
    this.#line.info(fields, message)
  }

  warn(fields: object, message: string): void {
    this.#line.warn(fields, message)
  }

  error(fields: object, message: string): void {
    this.#line.error(fields, message)
  }
}
