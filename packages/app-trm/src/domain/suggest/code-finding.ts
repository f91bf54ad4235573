import type { Finding } from './finding.ts'
import { pythonFindings } from './python-metric.ts'
import { scriptFindings } from './script-metric.ts'

/** Longest text that is read, in UTF-16 units. */
const longest = 300_000

/** What the code of a file shows, by the extension of its path; nothing for other languages. */
export function codeFindings(path: string, text: string): readonly Finding[] {
  if (text.length > longest) return []
  if (/\.pyi?$/.test(path)) return pythonFindings(text)
  return /\.[cm]?js$/.test(path) ? scriptFindings(text) : []
}
