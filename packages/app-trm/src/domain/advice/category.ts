/** Categories of review comments. The `focus` argument selects some of them. */
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
] as const

export type Category = (typeof categories)[number]
