export interface Service {
  readonly command: readonly string[]
  /** Also every app's default root. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Lines of KEY=value with secrets; may be missing. */
  readonly environmentFile: string
  readonly shutdownMs: number
}
