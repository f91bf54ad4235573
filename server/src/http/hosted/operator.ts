import { CausewayError } from '@causeway/protocol'
import type { FastifyRequest } from 'fastify'
import { checkAccess } from '../../dispatch/call-runner.ts'
import { isLoopbackAddress } from '../security/admission.ts'

/**
 * Protects routes that start programs, change what models read or use accounts. Requires `causeway:execute` or,
 * without tokens, a local program. Throws `FORBIDDEN_SCOPE` and `FORBIDDEN_ORIGIN`.
 */
export function requireOperator({ access, headers, ip }: FastifyRequest, name: string): void {
  checkAccess(access, 'causeway', { scope: 'execute', name })
  if (access === undefined && (headers.origin !== undefined || !isLoopbackAddress(ip)))
    throw new CausewayError('FORBIDDEN_ORIGIN', `${name} of hosted servers is not served to web pages`, {
      remedy: 'use causeway mcp',
    })
}
