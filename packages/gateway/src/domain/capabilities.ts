import type { InputRequest, JsonObject } from '@causeway/protocol'

type CanAsk = (question: InputRequest) => boolean

interface SharingOptions {
  readonly share: 'shared' | 'project' | 'client' | 'call'
  readonly concurrency: number
  readonly kind: 'stdio' | 'http' | 'sse'
}

const allCapabilities: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const questionCapabilities: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {} }

/**
 * Returns the client capabilities of the instance whose lists all clients receive. Omits capabilities whose requests
 * cannot be assigned to a client.
 */
export function getListedCapabilities({ share, concurrency, kind }: SharingOptions): JsonObject {
  if (share === 'client' || share === 'call') return allCapabilities
  const isTraceable = concurrency === 1 || kind === 'http'
  return { ...(isTraceable ? questionCapabilities : {}), ...(share === 'project' ? { roots: {} } : {}) }
}

/** Omits `roots`, because the gateway itself answers `roots/list`. */
export function getClientCapabilities(canAsk: CanAsk): JsonObject {
  const canSendForm = canAsk({ method: 'elicitation/create', params: { mode: 'form' } })
  const canSendUrl = canAsk({ method: 'elicitation/create', params: { mode: 'url' } })
  return {
    ...(canSendForm || canSendUrl
      ? { elicitation: { ...(canSendForm ? { form: {} } : {}), ...(canSendUrl ? { url: {} } : {}) } }
      : {}),
    ...(canAsk({ method: 'sampling/createMessage', params: {} }) ? { sampling: {} } : {}),
  }
}
