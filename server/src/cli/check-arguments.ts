import type { CausewayError } from '@causeway/protocol'
import { describeUnknown } from '../config/command-line.ts'
import { type Command, createUsageError } from './command.ts'

/**
 * Throws `INVALID_ARGUMENTS` if no form matches. In a form, `word` is literal, `a|b` a choice, `<name>` any
 * argument, `[<name>]` an optional argument, `name…` any number.
 */
export function checkArguments({ name, forms }: Command, args: readonly string[]): void {
  const results = forms.map((form) => matchForm(name, splitForm(form), args))
  if (results.some(({ problem }) => problem === undefined)) return
  const [closestResult] = results.toSorted((a, b) => b.matchedCount - a.matchedCount)
  const verbs = forms.map((form) => splitForm(form)[0]).filter((token) => token !== undefined)
  const isUnknownVerb = closestResult?.matchedCount === 0 && verbs.length > 1 && args[0] !== undefined
  throw isUnknownVerb
    ? createUnknownArgumentError(name, args[0] ?? '', verbs.flatMap(listChoices))
    : closestResult?.problem
}

const splitForm = (form: string): readonly string[] => form.split(' ').filter((token) => token !== '')

interface FormResult {
  readonly matchedCount: number
  readonly problem?: CausewayError
}

function matchForm(command: string, tokens: readonly string[], args: readonly string[]): FormResult {
  for (const [index, token] of tokens.entries()) {
    const arg = args[index]
    if (token.includes('…')) return { matchedCount: args.length }
    if (arg === undefined) {
      if (isOptional(token)) continue
      return { matchedCount: index, problem: createUsageError(command, `missing ${token}`) }
    }
    const choices = listChoices(token)
    if (choices.length > 0 && !choices.includes(arg))
      return { matchedCount: index, problem: createUnknownArgumentError(command, arg, choices) }
  }
  const extraArgument = args[tokens.length]
  if (extraArgument === undefined) return { matchedCount: args.length }
  const problem = createUsageError(command, `${command} takes no argument "${extraArgument}"`)
  return { matchedCount: tokens.length, problem }
}

const isOptional = (token: string): boolean => token.startsWith('[')

/** Returns the allowed values, or an empty list if any value is allowed. */
export function listChoices(token: string): readonly string[] {
  const word = token.replaceAll(/[[\]]/g, '')
  return word === '' || word.startsWith('<') || word.includes('…') ? [] : word.split('|')
}

const createUnknownArgumentError = (
  command: string,
  arg: string,
  choices: readonly string[],
): CausewayError =>
  createUsageError(command, `${describeUnknown('argument', arg, choices)}; use ${choices.join(', ')}`)
