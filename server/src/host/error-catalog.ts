import type { App } from '@causeway/app-kit'
import { CausewayError, declareError, type ErrorDefinition } from '@causeway/protocol'

export class ErrorCatalog {
  readonly #entries = new Map<string, { readonly owner: string; readonly definition: ErrorDefinition }>()

  /** Adds the codes of an app, and updates them if it was reloaded. Throws `INVALID_APP` if another app declares one of them. */
  add({ name, errors }: Pick<App, 'name' | 'errors'>): void {
    const entries = Object.entries(errors)
    for (const [code, definition] of entries) {
      const entry = this.#entries.get(code)
      // Apps that use the same library share its definitions.
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

  /** Returns the error of an app with the definition of its code, also if another app declares the code. */
  define(error: CausewayError): CausewayError {
    return declareError(error, this.#entries.get(error.code)?.definition)
  }

  /** In the order of their declaration. */
  get codes(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /** Returns what a code means, or the code if it is not declared. */
  describe(code: string): string {
    return this.#entries.get(code)?.definition.about ?? code
  }
}
