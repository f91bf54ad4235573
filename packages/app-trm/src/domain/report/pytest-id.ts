interface ReportedTest {
  readonly name: string
  /** Module and classes, such as `tests.test_sums.TestMean`. Empty for a file that could not be loaded. */
  readonly owner: string
  /** The file that defines the test, or an empty string. For an inherited test, it differs from the module. */
  readonly file: string
}

const toModule = (file: string): string => file.replace(/\.py$/, '').replaceAll('/', '.')

/**
 * Returns the id that pytest accepts, such as `tests/test_sums.py::TestMean::test_two[1]`. `files` are all files of
 * the report.
 */
export function createPytestId({ name, owner, file }: ReportedTest, files: ReadonlySet<string>): string {
  const isInModule = (module: string) => owner === module || owner.startsWith(`${module}.`)
  if (owner === '') return toModule(file) === name ? file : name
  const definingFile = [file, ...files].find(
    (candidate) => candidate !== '' && isInModule(toModule(candidate)),
  )
  // Without a file, the path ends at the last part that is named like a test module.
  const module =
    definingFile === undefined
      ? /^(?:\w+\.)*(?:test_\w+|\w+_test|tests?)(?=\.[A-Z]|$)/.exec(owner)?.[0]
      : toModule(definingFile)
  if (module === undefined) return `${owner}::${name}`
  const classes = owner.slice(module.length + 1).split('.')
  const path = definingFile ?? `${module.replaceAll('.', '/')}.py`
  return [path, ...classes, name].filter((segment) => segment !== '').join('::')
}

/**
 * Returns the key by which tests are compared. Version 0.2 stored `tests.test_sums.TestMean::test_two` instead of
 * `tests/test_sums.py::TestMean::test_two`, and clients may send either.
 */
export function toTestKey(id: string): string {
  const index = id.indexOf('[')
  const [names, parameters] = index < 0 ? [id, ''] : [id.slice(0, index), id.slice(index)]
  const [, path, suffix = ''] = /^(?:\.\/)?([^:\s]+)\.py(::.*)?$/s.exec(names) ?? []
  const dotted = path === undefined ? names : `${path.replaceAll('/', '.')}${suffix}`
  return `${dotted.replaceAll('::', '.')}${parameters}`
}
