/** What every method handler gets. */
import type { Params } from '@causeway/protocol'
import type { Caller } from '../core.ts'
import type { MountLists, Registry } from '../registry.ts'
import type { Scope } from '../scope.ts'

/** One call of a method. */
export interface MethodCall {
  readonly params: Params
  readonly caller: Caller
  readonly lists: MountLists
}

/** The parts of the server that methods use. */
export interface MethodContext {
  readonly registry: Registry
  readonly scope: Scope
  readonly ttlMs: number
  readonly pageSize: number
}

/** Answers one method: gives the JSON-RPC `result` or throws a `CausewayError`. */
export type Method = (call: MethodCall, context: MethodContext) => Promise<unknown>
