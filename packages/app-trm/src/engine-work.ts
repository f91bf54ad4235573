/** The work on code itself, wherever it runs. */
import { createHash } from 'node:crypto'
import { applyCandidate, candidatePaths } from './domain/candidate/apply.ts'
import { difference } from './domain/candidate/difference.ts'
import { readCandidate } from './domain/candidate/read-candidate.ts'
import { readCoverage } from './domain/coverage.ts'
import { readDiagnostics } from './domain/diagnostic.ts'
import { problems } from './domain/feedback/problem.ts'
import { eslintFixes } from './domain/fix/eslint-fix.ts'
import { fixes } from './domain/fix/fix.ts'
import { moduleOutline } from './domain/fix/python-import.ts'
import { readMetric } from './domain/metric.ts'
import { readTests } from './domain/report/read-tests.ts'
import { filesOfDiff, filesOfTexts } from './domain/review/changed-file.ts'
import { review } from './domain/review/review.ts'
import { suggestions } from './domain/suggest/suggest.ts'
import type { EngineMethods } from './engine-methods.ts'

const sha = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** The methods, all of them without effects. */
export const engineWork: EngineMethods = {
  read(input) {
    const candidate = readCandidate(input)
    return { candidate, paths: candidatePaths(candidate) }
  },
  apply: ({ files, candidate }) => applyCandidate(files, candidate, { sha }),
  difference: ({ path, before, after }) => difference(path, before, after),
  tests: readTests,
  coverage: ({ source, text, changed }) => readCoverage(source, text, changed),
  metric({ outputs, ...options }) {
    for (const output of outputs) {
      const found = readMetric(output, options)
      if (found !== undefined) return found
    }
    return undefined
  },
  diagnostics: readDiagnostics,
  problems: ({ outputs, modules }) =>
    problems(outputs, outputs.flatMap(readDiagnostics), { hasModule: (name) => modules.has(name) }),
  definitions: (texts) => definitions(texts),
  fix: ({ problems: found, files, definitions, outputs }) =>
    [
      ...fixes(found, { files, definitions }),
      ...outputs.flatMap((output) => eslintFixes(output, files)),
    ].slice(0, 3),
  suggest: suggestions,
  review: ({ diff, files = [], focus }) =>
    review([...(diff === undefined ? [] : filesOfDiff(diff)), ...filesOfTexts(files)], focus),
}

/** Names that Python modules define -> the modules that define them. */
function definitions(texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const [path, text] of texts) {
    const module = path
      .replace(/^src\//, '')
      .replace(/(^|\/)__init__\.py$|\.py$/, '')
      .replaceAll('/', '.')
    for (const name of moduleOutline(text).definitions) found.set(name, [...(found.get(name) ?? []), module])
  }
  return found
}
