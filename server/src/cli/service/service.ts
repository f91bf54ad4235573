export interface Service {
  readonly command: readonly string[]
  /** Also the default root of every app. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Lines of KEY=value with secrets; may be missing. */
  readonly environmentFile: string
  readonly shutdownMs: number
}
