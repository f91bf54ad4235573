import { z } from 'zod'
import { HelpError } from '../errors.ts'
import type { Scope } from '../storage/types.ts'
import type { BuildProgress, Help } from '../store.ts'

export const hints = { readOnly: true } as const

export const rows = () => z.array(z.looseObject({}))

export const internalArgument = z
  .boolean()
  .default(false)
  .describe('Whether to include internal pages, if the server allows it')

export const languageArgument = z.string().max(20).optional().describe('Language code: en, ja, zh, ko, …')

/** Throws `HELP_INTERNAL_FORBIDDEN`. */
export function toScope(
  { settings }: Help,
  { include_internal, ...scope }: Omit<Scope, 'internal'> & { readonly include_internal: boolean },
): Scope {
  if (include_internal && !settings.internal)
    throw new HelpError('HELP_INTERNAL_FORBIDDEN', 'this server does not serve internal documentation')
  return { internal: include_internal, ...scope }
}

export function hideInternal<Row extends { readonly is_internal: boolean }>(
  { settings }: Help,
  { is_internal, ...row }: Row,
): Omit<Row, 'is_internal'> & { readonly is_internal?: boolean } {
  return settings.internal ? { ...row, is_internal } : row
}

export function describeIndexing(help: Help): { readonly indexing?: string } {
  const progress = help.getBuildProgress()
  return progress === undefined ? {} : { indexing: describeProgress(progress) }
}

const describeProgress = ({ message, done, total }: BuildProgress): string =>
  `the documentation is being indexed: ${message}${total === null ? '' : `, ${done} of ${total}`}`
