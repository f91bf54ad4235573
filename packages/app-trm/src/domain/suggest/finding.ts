/** What reading the code alone shows. */

/** The concerns that findings are about; `focus` of a review names them. */
export const categories = [
  'type-safety',
  'logging',
  'todos',
  'code-quality',
  'formatting',
  'error-handling',
  'testing',
  'size',
  'data-validation',
  'complexity',
  'performance',
  'documentation',
] as const

/** One of them. */
export type Category = (typeof categories)[number]

/** Something that code shows. */
export interface Finding {
  /** From 1. */
  readonly line: number
  readonly category: Category
  readonly issue: string
  readonly suggestedFix: string
}
