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
