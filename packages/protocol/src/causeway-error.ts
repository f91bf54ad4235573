import { type ErrorDeclaration, type ErrorDefinition, wireErrors } from './wire-errors.ts'

/** Details for clients, plain JSON. */
export type ErrorData = Readonly<Record<string, unknown>>

export type WireErrorCode = keyof typeof wireErrors

interface ErrorOptions {
  readonly data?: ErrorData
  readonly remedy?: string
  readonly retryable?: boolean
  /** Logged, never sent. */
  readonly cause?: unknown
}

export interface ErrorClass<Code extends string> {
  new <C extends Code>(code: C, message: string, options?: ErrorOptions): CausewayError<C>
  readonly definitions: Readonly<Record<Code, ErrorDefinition>>
  /** Whether a value is an error with one of these codes or, without codes, with a code of this class. */
  is<C extends Code = Code>(error: unknown, ...codes: readonly C[]): error is CausewayError<C>
}

export type PlainError = Pick<CausewayError, 'code' | 'message' | 'remedy' | 'data' | 'definition'>

const maxMessageLength = 4000

/** Definition for undeclared codes, which TypeScript prevents but JavaScript does not. */
const undeclaredDefinition: ErrorDefinition = Object.freeze({
  rpc: -32000,
  status: 500,
  retryable: false,
  about: 'the code is not declared',
  remedy: 'see the documentation of the app',
})

class CodedError<Code extends string = string> extends Error {
  /** Type of all coded errors in log entries. */
  static override readonly name: string = 'CausewayError'
  static readonly definitions: Readonly<Record<string, ErrorDefinition>> = addDefaults(wireErrors)
  readonly code: Code
  readonly remedy: string
  readonly data: ErrorData
  readonly definition: ErrorDefinition

  constructor(
    code: Code,
    message: string,
    {
      data = {},
      remedy,
      retryable,
      cause,
      definition = (Object.hasOwn(new.target.definitions, code) && new.target.definitions[code]) ||
        undeclaredDefinition,
    }: ErrorOptions & { readonly definition?: ErrorDefinition } = {},
  ) {
    super(shorten(message, maxMessageLength), cause === undefined ? undefined : { cause })
    this.name = 'CausewayError'
    this.code = code
    this.remedy = remedy ?? definition.remedy
    this.data = data
    this.definition = retryable === undefined ? definition : { ...definition, retryable }
  }

  static is(error: unknown, ...codes: readonly string[]): boolean {
    if (!isCausewayError(error)) return false
    // biome-ignore lint/complexity/noThisInStatic: each subclass has its own definitions
    return codes.length === 0 ? Object.hasOwn(this.definitions, error.code) : codes.includes(error.code)
  }
}

/** `message` states the problem in lower case, without a period, with paths and values last. */
export type CausewayError<Code extends string = string> = CodedError<Code>
export const CausewayError = CodedError as unknown as ErrorClass<WireErrorCode>

/**
 * Declares the codes of a package or app. A code is never renamed or reused. Throws a `TypeError` for
 * malformed codes.
 */
export function defineErrors<const Declarations extends Readonly<Record<string, ErrorDeclaration>>>(
  declarations: Declarations,
): ErrorClass<keyof Declarations & string> {
  for (const [code, declaration] of Object.entries(declarations))
    if (!isValid(code, declaration))
      throw new TypeError(`error ${code} needs an UPPER_CASE code, status 400 to 599, about and remedy`)
  class OwnError extends CodedError {
    static override readonly name = CodedError.name
    static override readonly definitions = addDefaults(declarations)
  }
  return OwnError as unknown as ErrorClass<keyof Declarations & string>
}

const isValid = (code: string, { status, about, remedy, rpc = -1 }: ErrorDeclaration): boolean =>
  /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(code) &&
  Number.isInteger(status) &&
  status >= 400 &&
  status < 600 &&
  Number.isInteger(rpc) &&
  rpc < 0 &&
  [about, remedy].every((text) => typeof text === 'string' && text !== '')

function addDefaults(
  declarations: Readonly<Record<string, ErrorDeclaration>>,
): Readonly<Record<string, ErrorDefinition>> {
  const definitions = Object.entries(declarations).map(
    ([code, declaration]) =>
      [code, Object.freeze({ rpc: -32000, retryable: false, ...declaration })] as const,
  )
  return Object.freeze(Object.fromEntries(definitions))
}

/** Also accepts errors of other copies of this module. */
export function isCausewayError(error: unknown): error is CausewayError {
  if (!(error instanceof Error) || error.name !== 'CausewayError') return false
  const { code, definition } = error as Partial<CausewayError>
  return typeof code === 'string' && typeof definition?.status === 'number'
}

/** Wraps values that are not a `CausewayError` in `INTERNAL`. */
export function asCausewayError(error: unknown): CausewayError {
  if (isCausewayError(error)) return error
  return new CausewayError('INTERNAL', 'the call failed inside the server', { cause: error })
}

/** Matches the code of a system error and the message of a thread that cannot start. */
const fileLimit = /^(Worker initialization failure: )?(EMFILE|ENFILE)$/

/** Returns `OVERLOADED` if the error means that too many files are open; otherwise `undefined`. */
export function toFileLimitError(error: unknown): CausewayError | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, message } = error as { readonly code?: unknown; readonly message: string }
  if (!fileLimit.test(String(code)) && !fileLimit.test(message)) return undefined
  return new CausewayError('OVERLOADED', 'the server has too many open files', {
    remedy: 'close connections to the server, or raise its limit of open files (ulimit -n)',
    data: { retry_after_ms: 1000 },
    cause: error,
  })
}

/** Returns a copy with changed details. Its default cause is the original. */
export function reviseError(
  error: CausewayError,
  { message = error.message, ...changes }: ErrorOptions & { readonly message?: string },
): CausewayError {
  const { code, remedy, data, definition } = error
  return new CodedError(code, message, { remedy, data, cause: error, ...changes, definition })
}

/** Returns a copy with the definition `declared` if the error's code is undeclared. */
export function declareError(error: CausewayError, declared: ErrorDefinition | undefined): CausewayError {
  const { code, message, remedy, data, definition } = error
  if (declared === undefined || definition.about !== undeclaredDefinition.about) return error
  const ownRemedy = remedy === definition.remedy ? declared.remedy : remedy
  return new CodedError(code, message, { remedy: ownRemedy, data, cause: error, definition: declared })
}

export function toPlainError({ code, message, remedy, data, definition }: CausewayError): PlainError {
  return { code, message, remedy, data, definition }
}

export function fromPlainError({ code, message, ...options }: PlainError): CausewayError {
  return new CodedError(code, message, options)
}

export const shorten = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
