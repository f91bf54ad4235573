import type { Scope } from '../types.ts'

/** SQL condition of a scope on the page `d`. Uses the parameters $1 to $4. */
export const scopeCondition =
  '(d.is_internal = false OR $1::boolean) AND ($2::text IS NULL OR d.language = $2) AND ($3::text IS NULL OR d.section_key = $3) AND ($4::text IS NULL OR d.source = $4)'

export const toParameters = ({ internal, language, section, source }: Scope): unknown[] => [
  internal,
  language?.toLowerCase() ?? null,
  section?.toLowerCase() ?? null,
  source ?? null,
]
