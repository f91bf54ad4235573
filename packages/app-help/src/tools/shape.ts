/** Arguments and members of answers that several tools share. */
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { Scope } from '../storage.ts'
import type { BuildProgress, Help } from '../store.ts'

/** All tools only read. */
export const hints = { readOnly: true } as const

/** Loose rows: their members are told in the README, and every byte of a listing costs a model. */
export const rows = () => z.array(z.looseObject({}))

/** The argument that asks for internal pages. */
export const internalArgument = z
  .boolean()
  .default(false)
  .describe('internal pages too; only where the server allows it')

/** The argument that narrows to a language. */
export const languageArgument = z.string().max(20).optional().describe('en, ja, zh, ko, …')

/** The scope of a question. Throws `HELP_INTERNAL_FORBIDDEN`: whoever asks for internal pages is told, not fooled. */
export function scopeOf(
  { settings }: Help,
  { include_internal, ...rest }: Omit<Scope, 'internal'> & { readonly include_internal: boolean },
): Scope {
  if (include_internal && !settings.internal)
    throw new CausewayError('HELP_INTERNAL_FORBIDDEN', 'this server gives no internal documentation')
  return { internal: include_internal, ...rest }
}

/** A row without `is_internal`, which nobody learns who may not see internal pages. */
export function told<Row extends { readonly is_internal: boolean }>(
  { settings }: Help,
  { is_internal, ...row }: Row,
): Omit<Row, 'is_internal'> & { readonly is_internal?: boolean } {
  return settings.internal ? { ...row, is_internal } : row
}

/** What is still being built, for every answer: it may lack pages. */
export function indexing(help: Help): { readonly indexing?: string } {
  const progress = help.building()
  return progress === undefined ? {} : { indexing: sentence(progress) }
}

const sentence = ({ message, done, total }: BuildProgress): string =>
  `the documentation is being indexed: ${message}${total === null ? '' : `, ${done} of ${total}`}`
