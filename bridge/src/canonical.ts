/** A value as JSON text that does not depend on the order of members. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  ) ?? 'null'
