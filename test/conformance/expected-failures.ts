/** Known failures of the official suite. Each listed scenario must fail; a scenario that passes fails the build. */

/** Scenarios by the requirement set of the server. */
export const expectedFailures: Readonly<Record<'2025-11-25' | '2026-07-28', readonly string[]>> = {
  '2025-11-25': [],
  '2026-07-28': [],
}

/** Scenarios of a client behind the bridge, each with the reason. */
export const expectedBridgeFailures: Readonly<Record<string, string>> = {}
