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

/** Later arguments take precedence. Only `serverEnv` is filtered. */
export function createEnvironment(
  serverEnv: Readonly<Record<string, string | undefined>>,
  sessionEnv: Readonly<Record<string, string>>,
  extraEnv: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const allowedEntries = Object.entries(serverEnv).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (allowedNames.has(entry[0].toUpperCase()) || allowedPrefixes.test(entry[0])),
  )
  return { ...Object.fromEntries(allowedEntries), ...fixedVariables, ...sessionEnv, ...extraEnv }
}

/**
 * Returns options so that pytest writes `xml` and node --test writes `nodeXml`, before those of the other arguments.
 */
export function createReportEnvironment(
  { xml, nodeXml }: { readonly xml: string; readonly nodeXml: string },
  sessionEnv: Readonly<Record<string, string>>,
  extraEnv: { readonly PYTEST_ADDOPTS?: string; readonly NODE_OPTIONS?: string } = {},
): Readonly<Record<string, string>> {
  const join = (...values: readonly (string | undefined)[]): string =>
    values.filter((value) => value !== undefined).join(' ')
  // The format xunit1 contains the file of each test.
  const pytestOptions = `--junitxml="${xml}" -p no:cacheprovider -o junit_family=xunit1 -o junit_suite_name=pytest`
  const nodeOptions = `--test-reporter=junit --test-reporter-destination="${nodeXml}" --test-reporter=spec --test-reporter-destination=stdout`
  return {
    PYTEST_ADDOPTS: join(pytestOptions, sessionEnv.PYTEST_ADDOPTS, extraEnv.PYTEST_ADDOPTS),
    NODE_OPTIONS: join(nodeOptions, sessionEnv.NODE_OPTIONS, extraEnv.NODE_OPTIONS),
  }
}

const secretName = /token|secret|passw|credential|api_?key|private_?key/i
// Matches only at the beginning of a name, because a search from every character of a long word takes cubic time.
const secretText =
  /(?<![\w-])(?=[\w-]*?(?:token|secret|passw|api[_-]?key|private[_-]?key))([\w-]+["']?\s*[=:]\s*["']?)[^\s"',;]{8,}/gi

/** Replaces values that follow a secret-looking name in a text, and values of session variables with such a name. */
export function redact(text: string, sessionEnv: Readonly<Record<string, string>>): string {
  const secrets = Object.entries(sessionEnv)
    .filter(([name, value]) => secretName.test(name) && value.length >= 4)
    .map(([, value]) => value)
  const redacted = secrets.reduce((result, value) => result.replaceAll(value, '[redacted]'), text)
  return redacted.replaceAll(secretText, '$1[redacted]')
}
