import type { Endpoint } from './endpoint.ts'

export const redacted = '<redacted>'

const secretWord = /token|secret|passw|api[-_]?key|auth|credential|private[-_]?key|cookie|bearer/i

export const isSecretName = (name: string): boolean =>
  secretWord.test(name) || /(^|[-_])(key|pat|pw)$/i.test(name)

const tokenPattern =
  /\b(gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abpr]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|npm_\w{30,}|hf_\w{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/

export const isSecretValue = (text: string): boolean =>
  tokenPattern.test(text) || /:\/\/[^/@\s:]*:[^/@\s]+@/.test(text)

/** Removes query, fragment and credentials, which may contain variables. */
export function redactUrl(url: string): string {
  const withoutQuery = url.replace(/[?#].*$/s, (end) => (end.length > 1 ? `${end[0]}${redacted}` : end))
  return withoutQuery.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, `$1${redacted}@`)
}

export function redactArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const previous = args[index - 1] ?? ''
    if (/^--?[\w-]+$/.test(previous) && isSecretName(previous) && !arg.startsWith('-'))
      return redactUnlessVariable(arg)
    const [, flag, value] = /^(--?[\w-]+=)(.*)$/s.exec(arg) ?? []
    if (flag !== undefined && value !== undefined)
      return flag + (isSecretName(flag) ? redactUnlessVariable(value) : redactWord(value))
    return redactWord(arg)
  })
}

function redactWord(word: string): string {
  const [, header, value] = /^([\w-]+:\s*)(\S.*)$/s.exec(word) ?? []
  if (header !== undefined && value !== undefined && isSecretName(header))
    return header + redactUnlessVariable(value)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return redactUrl(word)
  return isSecretValue(word) ? redacted : word
}

/** Shorter secrets would also match parts of other words. */
const minSecretLength = 4

export const redactSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter(({ length }) => length >= minSecretLength)
    .reduce((rest, secret) => rest.replaceAll(secret, redacted), text)

/** Redacts all but references to variables, which reveal nothing. */
const redactUnlessVariable = (value: string): string =>
  value.replaceAll(/\$\{[^{}]*\}|[^$]+|\$/g, (part) => (part.startsWith('${') ? part : redacted))

export const describeEndpoint = (endpoint: Endpoint): string =>
  endpoint.kind === 'stdio'
    ? [endpoint.command, ...redactArgs(endpoint.args)].map(quote).join(' ')
    : redactUrl(endpoint.url)

const quote = (word: string): string =>
  /^[\w@%+=:,./<>${}?&#~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
