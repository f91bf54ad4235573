import type { Change } from '../../registry/mount.ts'
import type { Exchange } from '../exchange.ts'

export interface Transport {
  /**
   * Decodes the messages of a request, identifies their caller, dispatches them and encodes the response. Resolves when the
   * response is complete. Rejects if the request as a whole is invalid.
   */
  handle(exchange: Exchange): Promise<void>
  /** Notifies the clients of a mount, or those that subscribed to a resource. Absent if clients receive no notifications. */
  notify?(change: Change): void
  close?(): Promise<void>
}
