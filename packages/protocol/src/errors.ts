/**
 * Everything that can go wrong, in one table: the cause, what it means on each channel, and what to do about it.
 * Nothing else in the product decides a JSON-RPC number, an HTTP status or whether a retry makes sense.
 */

import { bridgeRows } from './error-rows/bridge.ts'
import { callRows } from './error-rows/call.ts'
import { commandRows } from './error-rows/command.ts'
import { debriefRows } from './error-rows/debrief.ts'
import { envelopeRows } from './error-rows/envelope.ts'
import { helpRows } from './error-rows/help.ts'
import { mindsRows } from './error-rows/minds.ts'
import { pictureRows } from './error-rows/picture.ts'
import { recordingRows } from './error-rows/recording.ts'
import type { ErrorRow } from './error-rows/row.ts'
import { serverRows } from './error-rows/server.ts'
import { toolvaultRows } from './error-rows/toolvault.ts'
import { transportRows } from './error-rows/transport.ts'
import { trmRows } from './error-rows/trm.ts'

export type { ErrorRow }

/** code -> row. A code is named for its cause, never renamed and never reused. */
export const codes = Object.freeze({
  ...envelopeRows,
  ...transportRows,
  ...callRows,
  ...pictureRows,
  ...recordingRows,
  ...helpRows,
  ...mindsRows,
  ...debriefRows,
  ...toolvaultRows,
  ...trmRows,
  ...serverRows,
  ...commandRows,
  ...bridgeRows,
} satisfies Record<string, ErrorRow>)

/** The name of a cause. */
export type ErrorCode = keyof typeof codes

/** The row of a code, typed as the interface and not as its literal. */
export const rowOf = (code: ErrorCode): ErrorRow => codes[code]
