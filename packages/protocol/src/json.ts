/** A JSON object as it was parsed: its members are not known until they are looked at. */
export type JsonObject = Readonly<Record<string, unknown>>

/** True for an object that is neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object, or an empty one in the place of anything else. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
