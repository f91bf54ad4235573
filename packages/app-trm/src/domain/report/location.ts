/** Where in the project a failure happened, as the texts of test runners tell it. */

/** A place in a source file. */
export interface Place {
  readonly file: string
  /** from 1 */
  readonly line: number
}

/** `tests/test_sums.py:10: AssertionError`, `File "sums.py", line 3`, `at f (file:///work/sums.js:5:28)`, `❯ a.js:5:35` */
const patterns = [
  /^(?<file>[^\s:"<>][^:"<>\n]*\.\w+):(?<line>\d+): (?:in |\w*(?:Error|Exception|Warning|Failed|Exit|Interrupt)\b)/gm,
  /File "(?<file>[^"<>\n]+)", line (?<line>\d+)/g,
  /(?:\(|at |❯ |@ )(?:file:\/\/)?(?<file>[^\s():][^():\n]*\.\w+):(?<line>\d+):\d+\)?/g,
]

const foreign = /node_modules|site-packages|dist-packages|^node:|^internal\/|\/lib\/python\d|^<|\/usr\/lib\//

/**
 * The place in the project that a failure's text names: Python tells the innermost frame last, JavaScript first.
 * Undefined where every frame is of a library.
 */
function placeIn(text: string): Place | undefined {
  for (const [index, pattern] of patterns.entries()) {
    const places = [...text.matchAll(pattern)]
      .map(({ groups }) => ({ file: groups?.file ?? '', line: Number(groups?.line) }))
      .filter(({ file }) => !foreign.test(file))
    const place = index === 2 ? places[0] : places.at(-1)
    if (place !== undefined) return place
  }
  return undefined
}

/** A failure's text with its place, as members of a test case. */
export function placed(message: string): { message: string; file?: string; line?: number } {
  const place = placeIn(message)
  return place === undefined ? { message } : { message, ...place }
}
