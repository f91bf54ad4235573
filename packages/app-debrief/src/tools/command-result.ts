import type { Notice } from '../domain/commands/command.ts'
import type { PreparedChange } from '../memory/plot-methods.ts'

/** Maximum length of a notice in a result. Viewers receive the complete notice. */
const maxNoticeCharacters = 8000

const maxSummaryCharacters = 400

export function describeCommands(prepared: PreparedChange) {
  const message = prepared.results.map((result) => result.message).join('; ')
  return {
    featuresAffected: countAffected(prepared),
    results: prepared.results,
    notices: prepared.notices.map(shortenNotice),
    feature_count: prepared.features,
    message,
    summary: message === '' ? 'There was no command.' : `Applied: ${shorten(message)}`,
  }
}

export const countAffected = ({ results }: PreparedChange): number =>
  results.reduce((sum, { featuresAffected = 0 }) => sum + featuresAffected, 0)

function shorten(message: string): string {
  if (message.length > maxSummaryCharacters) return `${message.slice(0, maxSummaryCharacters)} …`
  return /[.!?]$/.test(message) ? message : `${message}.`
}

function shortenNotice(notice: Notice): unknown {
  if (notice.kind === 'image') {
    const { data, ...rest } = notice
    return { ...rest, characters: data.length }
  }
  const characters = JSON.stringify(notice).length
  return characters <= maxNoticeCharacters ? notice : { kind: notice.kind, characters }
}
