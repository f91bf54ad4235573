/** Categories of comments, which the `focus` argument selects. A review itself is loaded with its first use. */
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
