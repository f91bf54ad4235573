import type { Provenance } from '../../types.ts'
import { type Members, readInteger, rejectValue, toList } from './json-value.ts'

const textMembers = ['commit', 'branch', 'scenario', 'host', 'engine_version'] as const

export const provenanceMembers = [...textMembers, 'seed', 'tags'] as const

const [maxTextLength, maxTags, maxTagLength] = [200, 32, 64]

/** Returns null if all members are absent. */
export function readProvenance(run: Members): Provenance | null {
  const provenance: Provenance = {
    commit: readText(run, 'commit'),
    branch: readText(run, 'branch'),
    scenario: readText(run, 'scenario'),
    seed:
      run.seed === undefined || run.seed === null
        ? null
        : readInteger(run.seed, 'seed', 0, Number.MAX_SAFE_INTEGER),
    tags: readTags(run.tags),
    host: readText(run, 'host'),
    engine_version: readText(run, 'engine_version'),
  }
  return Object.values(provenance).every((value) => value === null) ? null : provenance
}

function readText(run: Members, name: (typeof textMembers)[number]): string | null {
  const text = run[name] ?? null
  if (text === null || text === '') return null
  return typeof text === 'string' && text.length <= maxTextLength
    ? text
    : rejectValue(name, text, `a text of at most ${maxTextLength} characters`)
}

function readTags(value: unknown): readonly string[] | null {
  const tags = toList(value, 'tags')
  if (tags.length === 0) return null
  if (tags.length > maxTags) rejectValue('tags', tags.length, `at most ${maxTags} tags`)
  return tags.map((tag, i) =>
    typeof tag === 'string' && tag !== '' && tag.length <= maxTagLength
      ? tag
      : rejectValue(`tags[${i}]`, tag, `a text of 1 to ${maxTagLength} characters`),
  )
}
