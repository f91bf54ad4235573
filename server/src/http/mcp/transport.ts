import type { Change } from '../../registry/mount.ts'
import type { Exchange } from '../exchange.ts'

export interface Transport {
  /** Resolves when the response is complete. Rejects if the whole request is invalid. */
  handle(exchange: Exchange): Promise<void>
  /** `undefined` if clients do not receive notifications. */
  notify?(change: Change): void
  close?(): Promise<void>
}
