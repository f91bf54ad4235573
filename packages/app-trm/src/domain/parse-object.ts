import { asObject, type JsonObject } from '@causeway/protocol'

/** Parses a JSON object, with or without a byte order mark. Returns `{}` for other text. */
export function parseObject(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text.replace(/^\ufeff/, '')))
  } catch {
    return {}
  }
}
