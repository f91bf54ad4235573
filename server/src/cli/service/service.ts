export interface Service {
  readonly command: readonly string[]
  /** Working directory and every app's default root. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** File of KEY=value lines with secrets, if it exists. */
  readonly environmentFile: string
  readonly shutdownMs: number
}
