/** Path patterns without backtracking, in time proportional to pattern length times path length. */

/** One character, any number, or a marker that the next `optional` steps may be skipped. */
export type PatternStep =
  | { readonly one: (char: string) => boolean }
  | { readonly many: (char: string) => boolean }
  | { readonly optional: number }

export const toLiteralSteps = (text: string): readonly PatternStep[] =>
  text.split('').map((literal) => ({ one: (char) => char === literal }))

const isInName = (char: string): boolean => char !== '/'
const isAny = (): boolean => true

/** Steps of `?`, `*`, `**`, and `**` with a slash. */
export const wildcardSteps = {
  '?': [{ one: isInName }],
  '*': [{ many: isInName }],
  '**': [{ many: isAny }],
  '**/': [{ optional: 2 }, { many: isAny }, ...toLiteralSteps('/')],
} as const satisfies Record<string, readonly PatternStep[]>

/**
 * Returns a predicate for whole texts. Compares both ends first, where each step matches one character, and tracks
 * positions only between the first and the last wildcard.
 */
export function createMatcher(steps: readonly PatternStep[]): (text: string) => boolean {
  const first = steps.findIndex((step) => !('one' in step))
  if (first === -1) return (text) => text.length === steps.length && matchesEach(steps, text, 0)
  const end = findWildcardsEnd(steps)
  const [prefix, wildcards, suffix] = [steps.slice(0, first), steps.slice(first, end), steps.slice(end)]
  return (text) => {
    const suffixAt = text.length - suffix.length
    return (
      suffixAt >= first &&
      matchesEach(prefix, text, 0) &&
      matchesEach(suffix, text, suffixAt) &&
      matchesWildcards(wildcards, text.slice(first, suffixAt))
    )
  }
}

function findWildcardsEnd(steps: readonly PatternStep[]): number {
  let end = 0
  for (const [index, step] of steps.entries()) {
    if ('many' in step) end = Math.max(end, index + 1)
    if ('optional' in step) end = Math.max(end, index + 1 + step.optional)
  }
  return end
}

function matchesEach(steps: readonly PatternStep[], text: string, start: number): boolean {
  return steps.every((step, index) => 'one' in step && step.one(text.charAt(start + index)))
}

/** Tracks all positions in the steps that the characters so far can reach. */
function matchesWildcards(steps: readonly PatternStep[], text: string): boolean {
  let reached = addSkips(steps, new Set([0]))
  for (let index = 0; index < text.length && reached.size > 0; index++) {
    const char = text.charAt(index)
    const next = new Set<number>()
    for (const at of reached) {
      const step = steps[at]
      if (step === undefined) continue
      if ('one' in step && step.one(char)) next.add(at + 1)
      if ('many' in step && step.many(char)) next.add(at)
    }
    reached = addSkips(steps, next)
  }
  return reached.has(steps.length)
}

/** Adds the positions reachable without a character. */
function addSkips(steps: readonly PatternStep[], reached: Set<number>): Set<number> {
  for (const at of reached) {
    const step = steps[at]
    if (step === undefined || 'one' in step) continue
    reached.add(at + 1)
    if ('optional' in step) reached.add(at + 1 + step.optional)
  }
  return reached
}

/**
 * Returns a predicate for relative paths with forward slashes: `*` and `?` match within a name, `**` also across
 * folders. `data/` matches all below that folder, `*.lock` such files in any folder.
 */
export function createGlobMatcher(pattern: string): (path: string) => boolean {
  const whole = pattern.endsWith('/') ? `${pattern}**` : pattern
  const anywhere = whole.includes('/') ? whole.replace(/^\//, '') : `**/${whole}`
  const steps = (anywhere.match(/\*\*\/|\*\*|./gs) ?? []).flatMap((part): readonly PatternStep[] =>
    isWildcard(part) ? wildcardSteps[part] : toLiteralSteps(part),
  )
  return createMatcher(steps)
}

const isWildcard = (part: string): part is keyof typeof wildcardSteps => Object.hasOwn(wildcardSteps, part)
