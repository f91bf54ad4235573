/** What of the official suite is known to fail, and why. What is listed here must fail: a line that is out of date fails the build. */

/** By requirement set of the server. */
export const expectedFailures: Readonly<Record<'2025-11-25' | '2026-07-28', readonly string[]>> = {
  '2025-11-25': [],
  '2026-07-28': [],
}

/** By scenario of a client behind the bridge, with the reason. */
export const expectedBridgeFailures: Readonly<Record<string, string>> = {}
