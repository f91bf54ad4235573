/** One import, export-from or dynamic import of a source file. */
export interface Import {
  /** The text between the quotes. */
  readonly from: string
  /** Whether the import is erased at run time: `import type`, `export type`. */
  readonly isType: boolean
}

/** A comment or a string; matching both avoids mistaking one for the other. */
const commentOrString = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g
const clause = /^[ \t]*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s*)?['"]([^'"\n]+)['"]/gm
const dynamic = /\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g

/** Returns the text without comments; their line breaks remain. */
export function withoutComments(text: string): string {
  return text.replace(commentOrString, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, '') : match,
  )
}

/** Returns the text without comments and without the contents of quoted strings. */
export function codeOnly(text: string): string {
  return text.replace(commentOrString, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, '') : "''",
  )
}

/** Returns the imports of a TypeScript or JavaScript text: static ones first, then dynamic ones. */
export function findImports(text: string): Import[] {
  const code = withoutComments(text)
  return [
    ...[...code.matchAll(clause)].map((match) => ({ from: match[2] ?? '', isType: match[1] !== undefined })),
    ...[...code.matchAll(dynamic)].map((match) => ({ from: match[1] ?? '', isType: false })),
  ]
}
