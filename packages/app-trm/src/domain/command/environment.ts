/** An allow-list, so that code from a model cannot read the server's secrets. */
const allowedNames = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR', 'VIRTUAL_ENV', 'CONDA_PREFIX'],
  ...['SYSTEMROOT', 'COMSPEC', 'PATHEXT'],
])
const allowedPrefixes = /^(LC_|PYENV_|NVM_)/

/** Variables for quiet, reproducible output without files next to the sources. */
const fixedVariables: Readonly<Record<string, string>> = {
  CI: '1',
  NO_COLOR: '1',
  TERM: 'dumb',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONHASHSEED: '0',
}

export const findForbiddenName = (variables: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(variables).find(
    (name) => /^(LD_|DYLD_|CAUSEWAY_)/.test(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
  )

/** Later arguments take precedence. Only `outer` is filtered. */
export function createEnvironment(
  outer: Readonly<Record<string, string | undefined>>,
  session: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const allowed = Object.entries(outer).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (allowedNames.has(entry[0].toUpperCase()) || allowedPrefixes.test(entry[0])),
  )
  return { ...Object.fromEntries(allowed), ...fixedVariables, ...session, ...more }
}

/**
 * Returns the session's variables and `more`, extended so that pytest writes `xml` and node --test writes `nodeXml`.
 */
export function createReportEnvironment(
  { xml, nodeXml }: { readonly xml: string; readonly nodeXml: string },
  session: Readonly<Record<string, string>>,
  more: { readonly PYTEST_ADDOPTS?: string; readonly NODE_OPTIONS?: string } = {},
): Readonly<Record<string, string>> {
  const join = (...parts: readonly (string | undefined)[]): string =>
    parts.filter((part) => part !== undefined).join(' ')
  // The format xunit1 contains the file of each test.
  const pytest = `--junitxml="${xml}" -p no:cacheprovider -o junit_family=xunit1 -o junit_suite_name=pytest`
  const node = `--test-reporter=junit --test-reporter-destination="${nodeXml}" --test-reporter=spec --test-reporter-destination=stdout`
  return {
    PYTEST_ADDOPTS: join(pytest, session.PYTEST_ADDOPTS, more.PYTEST_ADDOPTS),
    NODE_OPTIONS: join(node, session.NODE_OPTIONS, more.NODE_OPTIONS),
  }
}

const secretName = /token|secret|passw|credential|api_?key|private_?key/i
// Matches only at the beginning of a name, because a search from every character of a long word takes cubic time.
const secretText =
  /(?<![\w-])(?=[\w-]*?(?:token|secret|passw|api[_-]?key|private[_-]?key))([\w-]+["']?\s*[=:]\s*["']?)[^\s"',;]{8,}/gi

/** Replaces values that follow a secret-looking name in a text, and values of session variables with such a name. */
export function redact(text: string, session: Readonly<Record<string, string>>): string {
  const values = Object.entries(session)
    .filter(([name, value]) => secretName.test(name) && value.length >= 4)
    .map(([, value]) => value)
  const cleaned = values.reduce((rest, value) => rest.replaceAll(value, '[redacted]'), text)
  return cleaned.replaceAll(secretText, '$1[redacted]')
}
