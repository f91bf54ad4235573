import { type CausewayError, isObject } from '@causeway/protocol'
import { GatewayError } from '../errors.ts'

/** A hosted server's JSON-RPC error, as received. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Transports send the hosted server's code, message and data. */
export function toUpstreamError(server: string, error: unknown): CausewayError {
  const { code, message, data } = isObject(error) ? error : {}
  const rpcError: RpcError = {
    code: typeof code === 'number' ? code : -32603,
    message: typeof message === 'string' ? message : 'error without a message',
    ...(data === undefined ? {} : { data }),
  }
  return new GatewayError('UPSTREAM_ERROR', `${server}: ${rpcError.message}`, {
    data: { server, rpc: rpcError },
  })
}

export const readRpcError = (error: unknown): RpcError | undefined =>
  GatewayError.is(error, 'UPSTREAM_ERROR') ? (error.data.rpc as RpcError) : undefined
