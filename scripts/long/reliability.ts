/** What a part of the long check came to. */
export interface Outcome {
  readonly name: string
  readonly about: string
  readonly isGood: boolean
  readonly seconds: number
  /** Where and when, as lines of text. */
  readonly facts: readonly string[]
  /** What it said at its end: totals, or the report of a soak. */
  readonly said: string
}

const head = `# Reliability

What \`npm run check:long\` found: every check with its full counts. Each part below is the last run of that part, with
machine, date and commit; \`npm run check:long -- soak\` runs one alone.
`

const marks = (name: string) => ({ first: `<!-- ${name}: begins -->`, last: `<!-- ${name}: ends -->` })

/** The document with this outcome in place of the part's older one, or at the end where there was none. */
export function withOutcome(document: string | undefined, outcome: Outcome): string {
  const text = document ?? head
  const { first, last } = marks(outcome.name)
  const block = `${first}\n\n${section(outcome)}\n\n${last}`
  const [start, end] = [text.indexOf(first), text.indexOf(last)]
  if (start === -1 || end < start) return `${text.trimEnd()}\n\n${block}\n`
  return text.slice(0, start) + block + text.slice(end + last.length)
}

function section({ name, about, isGood, seconds, facts, said }: Outcome): string {
  const lines = [...facts, `${isGood ? 'passed' : 'FAILED'} after ${Math.round(seconds)} s`]
  return `## ${name}: ${about}\n\n${lines.map((line) => `- ${line}\n`).join('')}\n\`\`\`text\n${said}\n\`\`\``
}

const totals = /^# \{ total: .*\}$/gm

/** The end of what a program wrote: tap's totals with the notes that tests made, else its last lines. */
export function closingWords(output: string): string {
  const last = output.match(totals)?.at(-1)
  if (last === undefined) return output.trim().split('\n').slice(-40).join('\n')
  const failed = output.match(/^not ok .*$/gm) ?? []
  return [...failed, last.slice(2)].join('\n')
}
