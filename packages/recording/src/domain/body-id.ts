import type { BodyId, EnvironmentBody } from '../types.ts'

/** Bit 31, set in the ids of environment bodies in contact rows. */
export const environmentBit = 0x8000_0000

/** True for the id of an environment body as contact rows hold it. */
export const isEnvironmentId = (id: BodyId): boolean => id >= environmentBit

/** The body with an id that has bit 31 set. */
export const environmentBody = (id: BodyId): EnvironmentBody => ({
  body_id: id,
  instance_id: id - environmentBit,
})

/**
 * The recorded id for what a person wrote, or null: a dynamic body's id, an environment body's id with bit 31, or
 * without it where no dynamic body has that number. `dynamic` and `environment` hold recorded ids.
 */
export function resolveBodyId(
  written: number,
  dynamic: ReadonlySet<BodyId>,
  environment: ReadonlySet<BodyId>,
): BodyId | null {
  if (dynamic.has(written) || environment.has(written)) return written
  const marked = written + environmentBit
  return environment.has(marked) ? marked : null
}
