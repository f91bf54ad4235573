import type { InputRequest, JsonObject } from '@causeway/protocol'

type Can = (question: InputRequest) => boolean

interface Sharing {
  readonly share: 'shared' | 'project' | 'client' | 'call'
  readonly concurrency: number
  readonly kind: 'stdio' | 'http' | 'sse'
}

const everything: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const questions: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {} }

/**
 * Returns the client capabilities of the instance whose lists all clients receive. Includes only capabilities whose
 * requests belong to a known client: with one client, one call at a time, or a response stream per call.
 */
export function getListedCapabilities({ share, concurrency, kind }: Sharing): JsonObject {
  if (share === 'client' || share === 'call') return everything
  const isTraceable = concurrency === 1 || kind === 'http'
  return { ...(isTraceable ? questions : {}), ...(share === 'project' ? { roots: {} } : {}) }
}

/** Omits roots, which the gateway answers with the project folder. */
export function getClientCapabilities(can: Can): JsonObject {
  const canFill = can({ method: 'elicitation/create', params: { mode: 'form' } })
  const canOpen = can({ method: 'elicitation/create', params: { mode: 'url' } })
  return {
    ...(canFill || canOpen
      ? { elicitation: { ...(canFill ? { form: {} } : {}), ...(canOpen ? { url: {} } : {}) } }
      : {}),
    ...(can({ method: 'sampling/createMessage', params: {} }) ? { sampling: {} } : {}),
  }
}
