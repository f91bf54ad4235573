import {
  type CallCondition,
  type CallFilter,
  isFailedOnly,
  type TextField,
} from '@causeway/protocol/call-filter'

/** Expressions of the columns of `audit`, as `matchesCall` of the filter compares them. */
const texts: Readonly<Record<TextField, string>> = {
  app: 'app',
  tool: 'tool',
  code: 'code',
  client: "iif(client = 'Mozilla', 'browser', client) || ' ' || client_version",
  session: 'session',
  subject: "coalesce(subject, '')",
}

/** No filter contains a line feed, so a match never spans two texts. */
const anyText = Object.values(texts).join(' || char(10) || ')

/** Returns SQL conditions and their parameters. */
export function toFilterSql(filter: CallFilter): {
  readonly conditions: readonly string[]
  readonly parameters: Readonly<Record<string, string | number>>
} {
  const parameters: Record<string, string | number> = {}
  const conditions = filter.map((condition, at) => {
    const name = `filter_${at}`
    if (condition.kind !== 'failed')
      parameters[name] = condition.kind === 'ms' ? condition.limit : condition.text
    const sql = toSql(condition, `@${name}`)
    return condition.isNegated ? `NOT (${sql})` : sql
  })
  // Selects the index of failed calls.
  if (isFailedOnly(filter)) conditions.push("code <> 'ok'")
  return { conditions, parameters }
}

function toSql(condition: CallCondition, parameter: string): string {
  if (condition.kind === 'failed') return "code <> 'ok'"
  if (condition.kind === 'ms') return `ms ${condition.sign} ${parameter}`
  const text = condition.field === 'any' ? anyText : texts[condition.field]
  return `instr(lower(${text}), ${parameter}) > 0`
}
