/** Arguments of importers that are times. */

import { dayStart, parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'

/** Midnight UTC of `2024-05-17`; throws `INVALID_ARGUMENTS` for a day that does not exist. */
export function dayOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [year, month, day] = text.split('-').map(Number)
  const found = /^\d{4}-\d\d-\d\d$/.test(text) ? dayStart(year ?? 0, month ?? 0, day ?? 0) : undefined
  return found ?? refuse('date', `is no day: ${text}`)
}

/** A time in ISO 8601; throws `INVALID_ARGUMENTS`. */
export function timeOf(argument: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return parseTime(text) ?? refuse(argument, `is no ISO 8601 time: ${text}`)
}

function refuse(argument: string, problem: string): never {
  throw new CausewayError('INVALID_ARGUMENTS', `${argument} ${problem}`, {
    data: { problems: [{ argument, problem }] },
  })
}
