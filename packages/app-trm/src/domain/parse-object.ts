import { asObject, type JsonObject } from '@causeway/protocol'

/** Parses a JSON object, also with a byte order mark; empty for other text. */
export function parseObject(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text.replace(/^\ufeff/, '')))
  } catch {
    return {}
  }
}
