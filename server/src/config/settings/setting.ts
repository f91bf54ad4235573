import { delimiter } from 'node:path'
import { z } from 'zod'

export interface Setting<Schema extends z.ZodType = z.ZodType> {
  readonly env: string
  readonly schema: Schema
  readonly meaning: string
  /** Replaces the schema's default in the docs. */
  readonly defaultText?: string
  /** Whether files that others may read must not contain the value. */
  readonly isSecret?: boolean
  readonly app?: string
}

export const setting = <Schema extends z.ZodType>(
  env: string,
  row: Omit<Setting<Schema>, 'env'>,
): Setting<Schema> => ({ env, ...row })

export const appSettings = <Settings extends Readonly<Record<string, Setting>>>(
  app: string,
  settings: Settings,
): Settings =>
  Object.fromEntries(Object.entries(settings).map(([key, row]) => [key, { ...row, app }])) as Settings

// Messages follow the name of the setting, as in `--port must be a number`.

export const anyText = z.string('must be text')

export const text = anyText.min(1, 'must not be empty')

export const url = z.url('must be a valid url')

export const webUrl = z.url({ protocol: /^https?$/, error: 'must be a valid url' })

export const flag = (value: boolean) =>
  z.union([z.boolean(), z.stringbool()], 'must be true or false').default(value)

export const choice = <const Value extends string>(...values: readonly [Value, ...Value[]]) =>
  z.enum(values, `must be ${values.join(', ').replace(/, ([^,]*)$/, ' or $1')}`)

export const integer = ({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) =>
  z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

export const defaultInteger = (value: number, limits?: Parameters<typeof integer>[0]) =>
  integer(limits).default(value)

/** Accepts an array in the configuration file, and text with separators elsewhere. */
export const list = (separator: string = delimiter) =>
  z
    .union([z.array(z.string()), z.string().transform((text) => text.split(separator))], 'must be a list')
    .transform((items) => items.map((item) => item.trim()).filter((item) => item !== ''))
    .default([])

/** An app and its port: `minds:3000`. */
export const appPort = z.string().transform((text, { addIssue }) => {
  const [, app, port] = /^([A-Za-z][A-Za-z0-9]*):(\d{1,5})$/.exec(text) ?? []
  if (app !== undefined && Number(port) <= 65_535) return { app, port: Number(port) }
  addIssue(`not of the form app:port: ${text}`)
  return z.NEVER
})

export const webOrigin = z.string().transform((text, { addIssue }) => {
  const isWellFormed = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:\d{1,5})?$/.test(text)
  // Like browsers, `URL.origin` omits default ports. It is `null` unless the scheme is HTTP(S).
  if (isWellFormed && (!/^https?:/.test(text) || URL.parse(text)?.origin === text)) return text
  addIssue(`not an origin as browsers send it, such as http://localhost:6274: ${text}`)
  return z.NEVER
})
