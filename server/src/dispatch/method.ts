import { CausewayError, isObject, type Params } from '@causeway/protocol'
import type { MountLists } from '../registry/mount-lists.ts'
import type { Registry } from '../registry/registry.ts'
import type { CallRunner } from './call-runner.ts'
import type { Caller } from './caller.ts'

export interface MethodCall {
  readonly params: Params
  readonly caller: Caller
  readonly lists: MountLists
}

export interface MethodContext {
  readonly registry: Registry
  readonly runner: CallRunner
}

/** Returns the JSON-RPC `result`, or throws a `CausewayError`. */
export type Method = (call: MethodCall, context: MethodContext) => Promise<unknown>

export function requireString(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw new CausewayError('INVALID_PARAMS', `params.${name} is not a string`, { data: { param: name } })
}

export function requireObject(params: Params, name: string): Params {
  const value = params[name]
  if (isObject(value)) return value
  throw new CausewayError('INVALID_PARAMS', `params.${name} is not an object`, { data: { param: name } })
}
