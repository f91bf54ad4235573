/** One import, export-from or dynamic import of a source file. */
export interface Import {
  /** What stands between the quotes. */
  readonly from: string
  /** True when nothing of it is left at run time: `import type`, `export type`. */
  readonly isType: boolean
}

/** A comment, or a string, so that neither is taken for the other. */
const commentOrString = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g
const clause = /^[ \t]*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s*)?['"]([^'"\n]+)['"]/gm
const dynamic = /\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g

/** The text without comments; line breaks within them are kept. */
export function withoutComments(text: string): string {
  return text.replace(commentOrString, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, '') : match,
  )
}

/** The text without comments and without the contents of quoted strings. */
export function codeOnly(text: string): string {
  return text.replace(commentOrString, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, '') : "''",
  )
}

/** Every import of a TypeScript or JavaScript text, in order of kind. */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text)
  return [
    ...[...code.matchAll(clause)].map((match) => ({ from: match[2] ?? '', isType: match[1] !== undefined })),
    ...[...code.matchAll(dynamic)].map((match) => ({ from: match[1] ?? '', isType: false })),
  ]
}
