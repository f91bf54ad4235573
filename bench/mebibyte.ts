/** Bytes of a MiB, the unit in which memory is shown; see docs/decisions/0025-memory-in-mib.md. */
export const mebibyte = 2 ** 20
