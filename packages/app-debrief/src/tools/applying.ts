/** What is told of commands that were applied. */
import type { CommandResult } from '../domain/apply-command.ts'
import type { Notice } from '../domain/command.ts'
import type { Prepared } from '../plot-methods.ts'
import { affected } from './changing.ts'

/** Characters of one notice in an answer; views get all of it. */
const mostCharacters = 8000

/** Characters of what commands say in a summary. */
const mostSaid = 400

/** The members of an answer about commands. */
export function applied(made: Prepared): {
  readonly featuresAffected: number
  readonly results: readonly CommandResult[]
  readonly notices: readonly unknown[]
  readonly feature_count: number
  readonly message: string
  readonly said: string
} {
  const message = made.results.map((result) => result.message).join('; ')
  return {
    featuresAffected: affected(made),
    results: made.results,
    notices: made.notices.map(brief),
    feature_count: made.features,
    message,
    said: message === '' ? 'There was no command.' : `Applied: ${sentenceEnd(message)}`,
  }
}

/** What tools say ends as they please; a summary ends once, and in time. */
function sentenceEnd(message: string): string {
  if (message.length > mostSaid) return `${message.slice(0, mostSaid)} …`
  return /[.!?]$/.test(message) ? message : `${message}.`
}

/** A picture is told by its title, and data that is long by its size: both are with the views. */
function brief(notice: Notice): unknown {
  if (notice.kind === 'image') {
    const { data, ...rest } = notice
    return { ...rest, characters: data.length }
  }
  const characters = JSON.stringify(notice).length
  return characters <= mostCharacters ? notice : { kind: notice.kind, characters }
}
