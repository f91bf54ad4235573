/** Where a library writes what nobody else would see. Shaped like pino. */
export interface LibraryLog {
  warn(data: object, message: string): void
}
