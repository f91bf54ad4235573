/** Bytes of a MiB, the unit in which memory is reported; message sizes are in millions of bytes. */
export const mebibyte = 2 ** 20
