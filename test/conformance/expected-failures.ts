/** What of the official suite is known to fail, and why. What is listed here must fail: a line that is out of date fails the build. */

/** Tasks are an extension, optional by definition and not scored; neither this server nor the SDK below it has them. */
const tasks = [
  'tasks-capability-negotiation',
  'tasks-dispatch-and-envelope',
  'tasks-lifecycle',
  'tasks-mrtr-composition',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-request-state-removal',
  'tasks-required-task-error',
  'tasks-wire-fields',
] as const

/** By requirement set of the server. */
export const expectedFailures: Readonly<Record<'2025-11-25' | '2026-07-28', readonly string[]>> = {
  '2025-11-25': [],
  '2026-07-28': tasks,
}

/** By scenario of a client behind the bridge, with the reason. */
export const expectedBridgeFailures: Readonly<Record<string, string>> = {}
