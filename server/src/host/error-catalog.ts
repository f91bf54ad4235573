import type { App } from '@causeway/app-kit'
import { CausewayError, declareError, type ErrorDefinition } from '@causeway/protocol'

export class ErrorCatalog {
  readonly #entries = new Map<string, { readonly owner: string; readonly definition: ErrorDefinition }>()

  /** Adds or updates an app's codes. Throws `INVALID_APP` if another app owns a code. */
  add({ name, errors }: Pick<App, 'name' | 'errors'>): void {
    const entries = Object.entries(errors)
    for (const [code, definition] of entries) {
      const entry = this.#entries.get(code)
      // Apps can share a library's definitions.
      if (entry !== undefined && entry.owner !== name && entry.definition !== definition)
        throw new CausewayError(
          'INVALID_APP',
          `${name} declares the error code ${code}, which belongs to ${entry.owner}`,
          { remedy: 'declare another code', data: { code } },
        )
    }
    for (const [code, definition] of entries)
      if (this.#entries.get(code)?.definition !== definition)
        this.#entries.set(code, { owner: name, definition })
  }

  /** Adds the catalog's definition if the error's class does not declare the code. */
  define(error: CausewayError): CausewayError {
    return declareError(error, this.#entries.get(error.code)?.definition)
  }

  get codes(): readonly string[] {
    return [...this.#entries.keys()]
  }

  describe(code: string): string {
    return this.#entries.get(code)?.definition.about ?? code
  }
}
