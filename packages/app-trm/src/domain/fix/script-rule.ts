import { nearName } from './near-name.ts'
import type { Rule } from './rule.ts'

/** What the TypeScript compiler itself proposes. */
const proposed: Rule = ({ kind, message, line }, text) => {
  if (kind !== 'TS2551' && kind !== 'TS2552' && kind !== 'TS2724' && kind !== 'TS2561') return undefined
  const wrong = /(?:Property|name|member named|but) '(\w+)'/.exec(message)?.[1]
  const meant = /[Dd]id you mean (?:to write )?'(\w+)'\?/.exec(message)?.[1]
  return renamedAt(text, line, wrong, meant)
}

/** A name that only a few letters part from one that the file declares or imports. */
const misspelt: Rule = ({ kind, message, line }, text) => {
  const wrong = /^(TS2304)$/.test(kind)
    ? /Cannot find name '(\w+)'/.exec(message)?.[1]
    : kind === 'no-undef'
      ? /^'(\w+)' is not defined/.exec(message)?.[1]
      : undefined
  if (wrong === undefined) return undefined
  const declared =
    text.match(/(?<=\b(?:const|let|var|function|class|interface|type|enum|import)\s+)[A-Za-z_$][\w$]*/g) ?? []
  const imported = [...text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(
    ([, list = '']) => list.match(/\w+(?=\s*(?:,|$))/g) ?? [],
  )
  return renamedAt(text, line, wrong, nearName(wrong, [...declared, ...imported]))
}

function renamedAt(
  text: string,
  line: number | undefined,
  wrong: string | undefined,
  meant: string | undefined,
): ReturnType<Rule> {
  const at = line === undefined ? undefined : text.split(/\r?\n/)[line - 1]
  if (at === undefined || line === undefined || wrong === undefined || meant === undefined) return undefined
  const content = at.replace(new RegExp(`(?<![\\w$])${wrong}(?![\\w$])`, 'g'), meant)
  if (content === at) return undefined
  return {
    edits: [{ type: 'replaceLine', line, content }],
    rationale: `'${wrong}' is not known, '${meant}' is`,
  }
}

/** In the order in which they are tried. */
export const scriptRules: readonly Rule[] = [proposed, misspelt]
