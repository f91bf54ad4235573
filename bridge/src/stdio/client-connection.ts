import type { Readable } from 'node:stream'
import type { Stats } from '../calls/stats.ts'
import { chain, type Ends, type Stage } from '../stages/stage.ts'
import { readLines } from './lines.ts'
import type { Output } from './output.ts'

interface Options {
  readonly input: Readable
  readonly output: Output
  /** The first stage is next to the client. */
  readonly stages: readonly Stage[]
  readonly stats: Stats
}

export class ClientConnection {
  readonly #input: Readable
  readonly #ends: Ends
  readonly #stats: Stats
  #onLine: (line: Buffer) => void = () => {}

  constructor({ input, output, stages, stats }: Options) {
    this.#input = input
    this.#stats = stats
    this.#ends = chain(stages, {
      toServer: (line) => this.#onLine(line),
      toClient: (json) => {
        stats.countMessage(json)
        output.write(json)
      },
    })
  }

  write = (json: Buffer): void => this.#ends.toClient(json)

  /** Resolves at the end of the input; rejects if reading fails. */
  read(onLine: (line: Buffer) => void): Promise<void> {
    this.#onLine = onLine
    return readLines(this.#input, (line) => {
      this.#stats.countLine(line)
      this.#ends.toServer(line)
    })
  }

  pause(isPaused: boolean): void {
    if (isPaused) this.#input.pause()
    else this.#input.resume()
  }
}
