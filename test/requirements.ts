/**
 * Everything the product promises, by id. How to use it:
 *
 * - Prove a requirement in any test file by `verifies('bridge:parse-error', async (t) => { ... })` from
 *   `test/verifies.ts`, with the id as a literal. It registers one tap test, named by the id and the behaviour.
 *   A second argument replaces the behaviour by a claim of your own: `verifies('wire:body-limit', 'REST too', fn)`.
 * - Where the requirement lists channels in `over`, the test runs once per channel: `async (t, channel) => { ... }`.
 * - Several tests may cite one id. An id without a citation, and a citation without an id, fail `requirements.test.ts`.
 * - A new behaviour gets a row in the file of its area first, then a test.
 */
import type { Requirement, Requirements } from './requirement.ts'
import { app } from './requirements/app.ts'
import { bridge } from './requirements/bridge.ts'
import { client } from './requirements/client.ts'
import { command } from './requirements/command.ts'
import { webConsole } from './requirements/console.ts'
import { debrief } from './requirements/debrief.ts'
import { gateway } from './requirements/gateway.ts'
import { help } from './requirements/help.ts'
import { limits } from './requirements/limits.ts'
import { minds } from './requirements/minds.ts'
import { proof } from './requirements/proof.ts'
import { recording } from './requirements/recording.ts'
import { reliability } from './requirements/reliability.ts'
import { replay } from './requirements/replay.ts'
import { server } from './requirements/server.ts'
import { toolvault } from './requirements/toolvault.ts'
import { trm } from './requirements/trm.ts'
import { views } from './requirements/views.ts'
import { wire } from './requirements/wire.ts'
import { workshop } from './requirements/workshop.ts'

const areas = {
  workshop,
  app,
  server,
  command,
  wire,
  views,
  bridge,
  recording,
  replay,
  help,
  minds,
  debrief,
  toolvault,
  trm,
  gateway,
  console: webConsole,
  limits,
  reliability,
  proof,
  client,
} as const satisfies Readonly<Record<string, Requirements>>

/** Every requirement of every area. */
export const requirements = {
  ...workshop,
  ...app,
  ...server,
  ...command,
  ...wire,
  ...views,
  ...bridge,
  ...recording,
  ...replay,
  ...help,
  ...minds,
  ...debrief,
  ...toolvault,
  ...trm,
  ...gateway,
  ...webConsole,
  ...limits,
  ...reliability,
  ...proof,
  ...client,
} as const satisfies Requirements

/** An id that exists; citing any other is a type error. */
export type RequirementId = keyof typeof requirements

/** The requirement of an id, with its optional fields. */
export function requirement(id: RequirementId): Requirement {
  return requirements[id]
}

/** The number of rows in all areas, which differs from the number of ids when two areas claim one id. */
export function rowCount(): number {
  return Object.values(areas).reduce<number>((sum, area) => sum + Object.keys(area).length, 0)
}
