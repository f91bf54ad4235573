/** Categories of review comments and suggestions. The `focus` argument of `review` uses the same names. */
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

export type Category = (typeof categories)[number]
