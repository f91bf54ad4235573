import { CausewayError, isCausewayError } from '@causeway/protocol'

/** With a smaller maximum, the worker would wait for this thread when other programs use the processors. */
const maxBytes = 4 * 1024 ** 2

/** Reads parts of a body ahead while earlier parts are stored. */
export class PartQueue {
  #chunks: Uint8Array[] = []
  #bytes = 0
  #isEnded = false
  #failure: CausewayError | undefined
  #wake = () => {}

  constructor(body: AsyncIterable<Uint8Array>) {
    void this.#read(body)
  }

  /** Waits for parts. Returns an empty list at the end. Throws the error of a broken body after its parts. */
  async take(): Promise<readonly Uint8Array[]> {
    while (this.#chunks.length === 0 && !this.#isEnded) await this.#waitForChange()
    const parts = this.#chunks
    if (parts.length === 0 && this.#failure !== undefined) throw this.#failure
    this.#chunks = []
    this.#bytes = 0
    this.#wake()
    return parts
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of body) {
        this.#chunks.push(chunk)
        this.#bytes += chunk.length
        this.#wake()
        while (this.#bytes >= maxBytes) await this.#waitForChange()
      }
    } catch (cause) {
      this.#failure = toStreamError(cause)
    }
    this.#isEnded = true
    this.#wake()
  }

  /** `#read` waits only while the queue is full and `take` only while it is empty, so they never wait together. */
  #waitForChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

const toStreamError = (cause: unknown): CausewayError =>
  isCausewayError(cause)
    ? cause
    : new CausewayError('CANCELLED', 'the body ended early; complete lines before that are stored', { cause })
